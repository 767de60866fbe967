/** Which store, as configurations and command lines say it. */

export interface TlsFiles {
  readonly ca?: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly serverName?: string;
}

export type StoreSpec =
  /** One machine: a directory that all programs of the machine open. */
  | { readonly kind: 'embedded'; readonly directory: string }
  | {
      readonly kind: 'etcd';
      /** `http://HOST:PORT` or `https://…`; the first that answers is used. */
      readonly endpoints: readonly string[];
      readonly tls?: TlsFiles;
      readonly username?: string;
      /** A file with nothing but the password: it is in no configuration and on no command line. */
      readonly passwordFile?: string;
    }
  | {
      readonly kind: 'consul';
      readonly endpoints: readonly string[];
      readonly tls?: TlsFiles;
      /** A file with the ACL token. */
      readonly tokenFile?: string;
    };
