/** What cdk.json names as the app. `npm run build` comes first: the stack takes the built bundle. */
import { DeployConfigFaults } from "./deploy-config-faults.ts";
import { synthesize } from "./synthesize.ts";

try {
  synthesize();
} catch (error) {
  // A fault of the configuration explains itself; a stack trace would bury it.
  if (!(error instanceof DeployConfigFaults)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
