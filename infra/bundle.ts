/**
 * Puts the installation's own files beside the built handler: policy.json and the API's certificates. They are part of
 * the code's hash, so a change of policy is a new deployment.
 */
import { cpSync, existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BUNDLE_FILES } from "../shared/domain/function-environment.ts";
import type { DeployConfig } from "./deploy-config.ts";

/**
 * Copies a built bundle to a new temporary folder and completes it there. The caller removes the folder.
 * @throws if there is no built bundle.
 */
export function stageBundle(builtDirectory: string, config: Pick<DeployConfig, "policy" | "api">): string {
  if (!existsSync(join(builtDirectory, "handler.mjs"))) {
    throw new Error(`staging the bundle: no handler.mjs in ${builtDirectory}; \`npm run build\` makes it`);
  }
  const staged = mkdtempSync(join(tmpdir(), "nodekeeper-bundle-"));
  cpSync(builtDirectory, staged, { recursive: true, filter: (path) => !path.endsWith(".map") });
  writeFileSync(join(staged, BUNDLE_FILES.policy), `${JSON.stringify(config.policy, undefined, 2)}\n`);
  writeFileSync(join(staged, BUNDLE_FILES.apiCa), config.api.caFile.pem);
  return staged;
}
