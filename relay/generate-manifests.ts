/**
 * Writes manifests/base/rbac.yaml from the table of permissions: `node relay/generate-manifests.ts`. A test fails
 * when the file isn't what this gives.
 */
import { writeFileSync } from "node:fs";
import { stringify } from "yaml";
import { ROLES } from "./permissions.ts";
import { rbacObjects } from "./rbac.ts";

export const RBAC_FILE = new URL("manifests/base/rbac.yaml", import.meta.url);
const HEADER = "# Made from relay/permissions.ts by relay/generate-manifests.ts. Change it there.\n";

export function renderRbac(): string {
  return (
    HEADER +
    rbacObjects(ROLES)
      .map((object) => stringify(object))
      .join("---\n")
  );
}

if (import.meta.main) writeFileSync(RBAC_FILE, renderRbac());
