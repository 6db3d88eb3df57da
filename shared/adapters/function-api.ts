/** How a function reaches the Kubernetes API: where the stack told it to, as who its role says it is. */
import { type RoleCredentials, tokenSource } from "./api-token.ts";
import type { ClusterSettings } from "./kube-connection.ts";
import { systemClock } from "./system-clock.ts";

interface ApiEnvironment {
  readonly AWS_REGION: string;
  readonly API_URL: string;
  readonly TOKEN_AUDIENCE: string;
}

/** @param variables where Lambda puts the role's credentials: read at each renewal of the token. */
export function functionApi(
  { AWS_REGION: region, API_URL: url, TOKEN_AUDIENCE: audience }: ApiEnvironment,
  ca: string,
  variables: Readonly<Record<string, string | undefined>>,
): ClusterSettings {
  const credentials = () => roleCredentials(variables);
  return { url, ca, token: tokenSource({ region, audience, credentials, clock: systemClock }) };
}

function roleCredentials(variables: Readonly<Record<string, string | undefined>>): RoleCredentials {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = variables;
  if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY) throw new Error("reading the role's credentials: none are set");
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN ? { sessionToken: AWS_SESSION_TOKEN } : {}),
  };
}
