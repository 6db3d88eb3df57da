/** What must hold of rotated key material before it is taken into use; a half-written pair stays outside. */
import { X509Certificate } from "node:crypto";
import type { Server } from "node:https";
import * as tls from "node:tls";

const MIN_TLS_VERSION = "TLSv1.2";

/** New connections get the new certificate; the open ones go on. @throws if certificate and key don't belong together. */
export function useCertificate(server: Server, cert: string, key: string): void {
  tls.createSecureContext({ cert, key });
  server.setSecureContext({ cert, key, minVersion: MIN_TLS_VERSION });
}

/** @throws if the first entry is no certificate: an empty or broken bundle would lock us out. */
export function checkCa(pem: string): string {
  new X509Certificate(pem);
  return pem;
}

/** @throws if it couldn't stand in a header. */
export function checkToken(text: string): string {
  const token = text.trim();
  if (!/^[!-~]+$/.test(token)) throw new Error("the token file holds no token");
  return token;
}
