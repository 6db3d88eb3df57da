/**
 * Reads the settings of an agent from its environment: every setting with its unit, bounds and default in one place,
 * all faults told together, and the same list printed by `--help`. By hand, since a schema library would take memory
 * that a node under pressure doesn't have.
 */

export interface Described {
  readonly name: string;
  readonly about: string;
  /** The default as text; undefined where the setting must be given. */
  readonly fallback: string | undefined;
  /** What is accepted, such as `1..60 seconds`. */
  readonly accepts: string;
}

/** Every fault of the environment, one per line, each naming the setting and what would be right. */
export class SettingsFault extends Error {
  override readonly name = "SettingsFault";
}

interface NumberBounds {
  readonly about: string;
  readonly unit: string;
  readonly min: number;
  readonly max: number;
  readonly fallback: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Ask for each setting once, then call `finish`; values are only to be used after it returned. */
export class SettingsReader {
  readonly #env: Environment;
  readonly #faults: string[] = [];
  readonly #described: Described[] = [];

  constructor(env: Environment) {
    this.#env = env;
  }

  /** A whole number within bounds. */
  integer(name: string, { about, unit, min, max, fallback }: NumberBounds): number {
    const accepts = `${min}..${max} ${unit}`.trim();
    const text = this.#find({ name, about, accepts, fallback: String(fallback) });
    if (text === undefined) return fallback;
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    return this.#refuse(name, text, `a whole number, ${accepts}`, fallback);
  }

  oneOf<T extends string>(name: string, values: readonly T[], about: string, fallback: T): T {
    const accepts = values.join(", ");
    const text = this.#find({ name, about, accepts, fallback });
    if (text === undefined) return fallback;
    return values.find((value) => value === text) ?? this.#refuse(name, text, `one of ${accepts}`, fallback);
  }

  switch(name: string, about: string, fallback: boolean): boolean {
    return this.oneOf(name, ["true", "false"], about, fallback ? "true" : "false") === "true";
  }

  /** Any text; `fallback` undefined makes it required. */
  text(name: string, about: string, fallback?: string): string {
    const text = this.#find({ name, about, accepts: "text", fallback });
    if (text !== undefined) return text;
    if (fallback === undefined) this.#faults.push(`${name} is missing: ${about}`);
    return fallback ?? "";
  }

  /** A setting in a form of its own: `read` throws an error that says what is wrong. */
  parsed<T>(name: string, about: string, accepts: string, fallback: T, read: (text: string) => T): T {
    const text = this.#find({ name, about, accepts, fallback: "" });
    if (text === undefined) return fallback;
    try {
      return read(text);
    } catch (error) {
      return this.#refuse(name, text, error instanceof Error ? error.message : String(error), fallback);
    }
  }

  /** @throws SettingsFault naming every fault. */
  finish(): void {
    if (this.#faults.length > 0) throw new SettingsFault(`reading the settings:\n  ${this.#faults.join("\n  ")}`);
  }

  /** All settings asked for so far, for `--help`. */
  get described(): readonly Described[] {
    return this.#described;
  }

  /** A fault in what several settings say together. */
  fault(message: string): void {
    this.#faults.push(message);
  }

  /** An empty variable counts as not set, as in a ConfigMap with nothing behind the colon. */
  #find(setting: Described): string | undefined {
    this.#described.push(setting);
    const text = this.#env[setting.name]?.trim();
    return text === "" ? undefined : text;
  }

  #refuse<T>(name: string, text: string, wanted: string, fallback: T): T {
    this.#faults.push(`${name}=${text.slice(0, 100)}: expected ${wanted}`);
    return fallback;
  }
}

/** The list for `--help`, one setting in two lines. */
export function helpOn(settings: readonly Described[]): string {
  return settings
    .map(({ name, about, accepts, fallback }) => {
      const otherwise = fallback === undefined ? "required" : `default: ${fallback === "" ? "none" : fallback}`;
      return `  ${name} (${accepts}; ${otherwise})\n      ${about}`;
    })
    .join("\n");
}
