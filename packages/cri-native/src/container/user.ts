/** As whom a container's program runs. */
import fs from 'node:fs';
import path from 'node:path';
import { CriError, type LinuxContainerSecurityContext } from '@podwire/cri';
import { hasCode } from '@podwire/linux';

export interface User {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  readonly home: string;
}

interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

/** Texts of passwd(5) and group(5); empty where the root directory has none. */
export interface Accounts {
  readonly passwd: string;
  readonly group: string;
}

export function readAccounts(root: string): Accounts {
  const read = (name: string): string => {
    try {
      return fs.readFileSync(path.join(root, 'etc', name), 'utf8');
    } catch (error) {
      if (hasCode(error, 'ENOENT', 'ENOTDIR')) return '';
      throw error;
    }
  };
  return { passwd: read('passwd'), group: read('group') };
}

const lines = (text: string): string[][] => text.split('\n').map((line) => line.split(':'));

const isNumber = (text: string | undefined): boolean => /^\d+$/.test(text ?? '');

function findAccount(passwd: string, matches: (account: Account) => boolean): Account | undefined {
  const accounts = lines(passwd)
    .filter(([, , uid, gid]) => isNumber(uid) && isNumber(gid))
    .map(([name = '', , uid, gid, , home = '/']) => ({ name, uid: Number(uid), gid: Number(gid), home }));
  return accounts.find(matches);
}

function groupsOf(group: string, name: string): number[] {
  const member = lines(group).filter(
    ([, , gid, users = '']) => isNumber(gid) && users.split(',').includes(name),
  );
  return member.map(([, , gid]) => Number(gid));
}

/** The largest id; 2³²−1 means "none" to the kernel. */
const mostId = 2n ** 32n - 2n;

function idOf(what: string, value: bigint): number {
  if (value < 0n || value > mostId) throw new CriError('INVALID_ARGUMENT', `${what}: ${value} is no id`);
  return Number(value);
}

/**
 * A number, or a name of the root directory's passwd file; root where nothing is said. The primary group is that of the
 * account unless it is said. @throws CriError INVALID_ARGUMENT
 */
export function chooseUser(
  context: LinuxContainerSecurityContext | undefined,
  { passwd, group }: Accounts,
): User {
  const { runAsUser, runAsGroup, runAsUsername = '', supplementalGroups = [] } = context ?? {};
  if (runAsGroup !== undefined && runAsUser === undefined && runAsUsername === '')
    throw new CriError('INVALID_ARGUMENT', 'run_as_group needs a user');
  const byNumber = isNumber(runAsUsername);
  const wanted = runAsUser?.value ?? (byNumber ? BigInt(runAsUsername) : undefined);
  const isName = wanted === undefined && runAsUsername !== '';
  const account = findAccount(passwd, (each) =>
    isName ? each.name === runAsUsername : each.uid === Number(wanted ?? 0n),
  );
  if (isName && account === undefined)
    throw new CriError(
      'INVALID_ARGUMENT',
      `there is no user ${runAsUsername} in the container's /etc/passwd`,
    );
  const uid = isName ? (account?.uid ?? 0) : idOf('run_as_user', wanted ?? 0n);
  const gid = runAsGroup === undefined ? (account?.gid ?? 0) : idOf('run_as_group', runAsGroup.value);
  const own = account === undefined ? [] : groupsOf(group, account.name);
  const groups = [...supplementalGroups.map((each) => idOf('supplemental_groups', each)), ...own, gid];
  return { uid, gid, groups: [...new Set(groups)], home: account?.home ?? '/' };
}
