/**
 * A certificate authority for one test run: TLS servers of the rig and of the relay get their certificates here, so
 * that every client can verify strictly. Keys are P-256 and live a day; nothing is kept.
 */
import "reflect-metadata";
import { randomBytes } from "node:crypto";
import { isIP } from "node:net";
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";

export interface CertificateRequest {
  readonly commonName: string;
  /** Becomes `O=`: Kubernetes reads groups from it. */
  readonly organization?: string;
  /** DNS names and IP addresses that the certificate is good for. */
  readonly hosts?: readonly string[];
  /** Default: from a minute ago. */
  readonly notBefore?: Date;
  /** Default: a day from now. A time in the past gives an expired certificate. */
  readonly notAfter?: Date;
}

export interface IssuedCertificate {
  readonly certPem: string;
  /** PKCS #8. */
  readonly keyPem: string;
}

export interface Authority {
  readonly certPem: string;
  /** A certificate for servers and clients, signed by this authority. */
  issue(request: CertificateRequest): Promise<IssuedCertificate>;
}

const KEY_ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

export async function createAuthority(commonName = "nodekeeper test authority"): Promise<Authority> {
  const keys = await generateKeys();
  const authority = await X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerialNumber(),
    name: `CN=${commonName}`,
    keys,
    ...validity({}),
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ],
  });

  return {
    certPem: authority.toString("pem"),
    async issue(request) {
      const own = await generateKeys();
      const certificate = await X509CertificateGenerator.create({
        serialNumber: newSerialNumber(),
        subject: subjectOf(request),
        issuer: authority.subjectName,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        ...validity(request),
        extensions: [
          new BasicConstraintsExtension(false, undefined, true),
          new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
          new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
          new SubjectAlternativeNameExtension((request.hosts ?? []).map(alternativeName)),
        ],
      });
      return { certPem: certificate.toString("pem"), keyPem: await exportKey(own.privateKey) };
    },
  };
}

function generateKeys() {
  return crypto.subtle.generateKey(KEY_ALGORITHM, true, ["sign", "verify"]);
}

async function exportKey(key: CryptoKey): Promise<string> {
  return PemConverter.encode(await crypto.subtle.exportKey("pkcs8", key), PemConverter.PrivateKeyTag);
}

/** A positive number, as RFC 5280 demands: the first bit is off. */
function newSerialNumber(): string {
  return `01${randomBytes(15).toString("hex")}`;
}

function validity(request: Pick<CertificateRequest, "notBefore" | "notAfter">) {
  return {
    notBefore: request.notBefore ?? new Date(Date.now() - MINUTE),
    notAfter: request.notAfter ?? new Date(Date.now() + DAY),
  };
}

/** Given as fields, not as text: a name such as `system:node:a` needs no escaping then. */
function subjectOf({ commonName, organization }: CertificateRequest) {
  return [{ CN: [commonName] }, ...(organization === undefined ? [] : [{ O: [organization] }])];
}

function alternativeName(host: string) {
  return { type: isIP(host) === 0 ? ("dns" as const) : ("ip" as const), value: host };
}
