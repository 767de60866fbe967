/** An authority and certificates for tests, made by openssl. */
import fs from 'node:fs';
import path from 'node:path';
import { run } from '../processes.js';

/** PEM files. */
export interface Certificate {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateRequest {
  /** The files are `NAME.crt` and `NAME.key`; also the common name when `commonName` is absent. */
  readonly name: string;
  readonly commonName?: string;
  /** As openssl writes them: `IP:127.0.0.1`, `DNS:etcd.test`. */
  readonly alternativeNames?: readonly string[];
}

export interface CertificateAuthority {
  /** The authority's own certificate. */
  readonly ca: string;
  /** For servers and for clients. A second one of the same name replaces the first. */
  issue(request: CertificateRequest): Promise<Certificate>;
}

// Debian's own file would add extensions, among them that every certificate is an authority.
const configuration = '[req]\ndistinguished_name = name\nprompt = no\n[name]\nCN = unused\n';

/** Makes an authority with its files in `directory`, which must exist. Its certificates are good for two days. */
export async function createAuthority(directory: string, name = 'ca'): Promise<CertificateAuthority> {
  const at = (file: string): string => path.join(directory, file);
  fs.writeFileSync(at(`${name}.cnf`), configuration);
  const request = async (
    subject: CertificateRequest,
    parameters: readonly string[],
  ): Promise<Certificate> => {
    const files = { certificate: at(`${subject.name}.crt`), key: at(`${subject.name}.key`) };
    await run([
      ...['openssl', 'req', '-config', at(`${name}.cnf`), '-x509', '-days', '2', '-noenc', '-newkey', 'ec'],
      ...['-pkeyopt', 'ec_paramgen_curve:P-256', '-subj', `/CN=${subject.commonName ?? subject.name}`],
      ...['-keyout', files.key, '-out', files.certificate, ...parameters],
    ]);
    return files;
  };
  const own = await request({ name, commonName: `podwire test ${name}` }, [
    ...['-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'keyUsage=critical,keyCertSign'],
  ]);
  return {
    ca: own.certificate,
    issue: (subject) =>
      request(subject, [
        ...['-CA', own.certificate, '-CAkey', own.key, '-addext', 'basicConstraints=CA:FALSE'],
        ...['-addext', 'extendedKeyUsage=serverAuth,clientAuth'],
        ...(subject.alternativeNames ?? []).flatMap((each) => ['-addext', `subjectAltName=${each}`]),
      ]),
  };
}
