/**
 * The certificates by which the functions know the relay, or the cluster's endpoint: a PEM file named in the deploy
 * configuration, read and checked when that is parsed.
 */
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import * as z from "zod";

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
/** A line of infra/example/api-ca.pem, whose key nobody has. */
const EXAMPLE_MARK = "# EXAMPLE: replace before deploying";

export interface ApiCa {
  /** One or more certificates. */
  readonly pem: string;
  /** Whether it is the file that comes with the sources, with which no relay can be trusted. */
  readonly isExample: boolean;
}

/** Schema of a path, relative to `directory`, to a PEM file with at least one certificate; its output is the content. */
export function apiCaFile(directory: string) {
  return z
    .string()
    .min(1)
    .transform((path, context): ApiCa => {
      try {
        return readApiCa(resolve(directory, path));
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        context.issues.push({ code: "custom", input: path, message: `can't be used: ${why}` });
        return z.NEVER;
      }
    });
}

function readApiCa(path: string): ApiCa {
  const text = readFileSync(path, "utf8");
  const certificates = text.match(CERTIFICATE) ?? [];
  if (certificates.length === 0) throw new Error(`no certificate in PEM in ${path}`);
  for (const certificate of certificates) new X509Certificate(certificate);
  return { pem: `${certificates.join("\n")}\n`, isExample: text.includes(EXAMPLE_MARK) };
}
