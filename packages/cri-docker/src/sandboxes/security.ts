/** Security options of the interface in Docker's words; the same for sandboxes and containers. */
import fs from 'node:fs/promises';
import {
  CriError,
  SecurityProfile_ProfileType,
  type SecurityProfile,
  type SELinuxOption,
} from '@podwire/cri';

export interface SecuritySource {
  readonly seccomp?: SecurityProfile | undefined;
  readonly apparmor?: SecurityProfile | undefined;
  readonly selinuxOptions?: SELinuxOption | undefined;
  /** Older forms. */
  readonly seccompProfilePath?: string;
  readonly apparmorProfile?: string;
  readonly noNewPrivs?: boolean;
}

/** Docker's `SecurityOpt`. A seccomp profile is read here, since Docker wants its content. */
export async function makeSecurityOptions(source: SecuritySource): Promise<string[]> {
  return [
    ...(await seccompOptions(source)),
    ...apparmorOptions(source),
    ...selinuxOptions(source.selinuxOptions),
    ...(source.noNewPrivs === true ? ['no-new-privileges'] : []),
  ];
}

async function seccompOptions({ seccomp, seccompProfilePath = '' }: SecuritySource): Promise<string[]> {
  const profile = seccomp ?? parseProfile(seccompProfilePath);
  switch (profile?.profileType) {
    case SecurityProfile_ProfileType.RuntimeDefault:
      return [];
    case SecurityProfile_ProfileType.Localhost:
      return [`seccomp=${await readProfile(profile.localhostRef)}`];
    default:
      // Kubernetes' default is "unconfined", Docker's is its own profile.
      return ['seccomp=unconfined'];
  }
}

function apparmorOptions({ apparmor, apparmorProfile = '' }: SecuritySource): string[] {
  const profile = apparmor ?? parseProfile(apparmorProfile);
  switch (profile?.profileType) {
    case SecurityProfile_ProfileType.Unconfined:
      return ['apparmor=unconfined'];
    case SecurityProfile_ProfileType.Localhost:
      return [`apparmor=${profile.localhostRef.replace(/^localhost\//, '')}`];
    default:
      return [];
  }
}

function selinuxOptions(options: SELinuxOption | undefined): string[] {
  return Object.entries(options ?? {}).flatMap(([key, value]: [string, unknown]) =>
    typeof value === 'string' && value !== '' ? [`label=${key}:${value}`] : [],
  );
}

/** `runtime/default`, `docker/default`, `unconfined` or `localhost/REF`. */
function parseProfile(text: string): SecurityProfile | undefined {
  const of = (profileType: SecurityProfile['profileType'], localhostRef = ''): SecurityProfile => ({
    profileType,
    localhostRef,
  });
  if (text === '') return undefined;
  if (text === 'runtime/default' || text === 'docker/default')
    return of(SecurityProfile_ProfileType.RuntimeDefault);
  if (text === 'unconfined') return of(SecurityProfile_ProfileType.Unconfined);
  if (text.startsWith('localhost/'))
    return of(SecurityProfile_ProfileType.Localhost, text.slice('localhost/'.length));
  throw new CriError('INVALID_ARGUMENT', `${JSON.stringify(text)} is no security profile`);
}

async function readProfile(file: string): Promise<string> {
  try {
    return JSON.stringify(JSON.parse(await fs.readFile(file, 'utf8')));
  } catch (cause) {
    throw new CriError('INVALID_ARGUMENT', `the seccomp profile ${file} cannot be read: ${String(cause)}`, {
      cause,
    });
  }
}

/** `UID[:GID]` for Docker. A group without a user would be the image's user with another group, which is never meant. */
export function makeUser(
  user: { readonly value: bigint } | undefined,
  group: { readonly value: bigint } | undefined,
  username = '',
): string | undefined {
  const first = user === undefined ? username : String(user.value);
  if (group === undefined) return first === '' ? undefined : first;
  if (first === '') throw new CriError('INVALID_ARGUMENT', 'run_as_group is given without a user');
  return `${first}:${group.value}`;
}
