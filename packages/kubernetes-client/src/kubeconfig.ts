/** Access to an API server from a kubeconfig file or from within a cluster: address, trust, and who we are. */
import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { bracketHost } from '@podwire/addresses';
import { describeError, PodwireError } from '@podwire/errors';
import { parse } from 'yaml';
import { z } from 'zod';
import { compact } from '@podwire/platform';

export interface ClusterAccess {
  /** `https://10.0.0.1:6443`, without a slash at its end. */
  readonly server: string;
  /** PEM; the system's own authorities when absent. */
  readonly authority?: string;
  /** False only where the file says `insecure-skip-tls-verify`. */
  readonly verify: boolean;
  /** PEM. */
  readonly certificate?: { readonly cert: string; readonly key: string };
  /** Asked for every request, since tokens are renewed. Undefined: only the certificate says who we are. */
  readonly token?: (signal: AbortSignal) => Promise<string | undefined>;
  readonly serverName?: string;
  /** Reads everything again: files are renewed in place, and certificates of programs expire. @throws as loading does */
  readonly renew?: (signal: AbortSignal) => Promise<ClusterAccess>;
}

const execPlugin = z.object({
  command: z.string(),
  args: z.array(z.string()).nullish(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
});

const user = z.object({
  'client-certificate': z.string().optional(),
  'client-certificate-data': z.string().optional(),
  'client-key': z.string().optional(),
  'client-key-data': z.string().optional(),
  token: z.string().optional(),
  tokenFile: z.string().optional(),
  exec: execPlugin.optional(),
});

const cluster = z.object({
  server: z.url(),
  'certificate-authority': z.string().optional(),
  'certificate-authority-data': z.string().optional(),
  'insecure-skip-tls-verify': z.boolean().default(false),
  'tls-server-name': z.string().optional(),
});

const kubeconfig = z.object({
  'current-context': z.string().default(''),
  contexts: z.array(
    z.object({ name: z.string(), context: z.object({ cluster: z.string(), user: z.string().default('') }) }),
  ),
  clusters: z.array(z.object({ name: z.string(), cluster })),
  // `kubectl config` writes null where there are none.
  users: z.array(z.object({ name: z.string(), user })).nullish(),
});

type User = z.output<typeof user>;

/**
 * Reads a kubeconfig as kubectl does; relative paths start at its directory.
 * @param context the file's current one when absent
 * @throws PodwireError CONFIG_INVALID naming file and field
 */
export async function loadKubeconfig(file: string, context?: string): Promise<ClusterAccess> {
  const programs = new Map<string, RunProgram>();
  const renew = async (): Promise<ClusterAccess> => ({
    ...(await readAccess(file, context, (exec) => programOf(file, exec, programs))),
    renew,
  });
  // A program that fails now is tried again with the first request, which says why; one that fails later changes nothing.
  const lenient = (exec: ExecPlugin): RunProgram => orNothing(programOf(file, exec, programs));
  return { ...(await readAccess(file, context, lenient)), renew };
}

/** The first call may fail without a word. */
function orNothing(run: RunProgram): RunProgram {
  let isFirst = true;
  return async (signal) => {
    if (!isFirst) return run(signal);
    isFirst = false;
    return run(signal).catch(() => ({}));
  };
}

async function readAccess(
  file: string,
  context: string | undefined,
  findProgram: FindProgram,
): Promise<ClusterAccess> {
  const read = kubeconfig.safeParse(await readYaml(file));
  if (!read.success) throw invalid(file, describeIssues(read.error));
  const { data } = read;
  const name = context ?? data['current-context'];
  const chosen = find(file, 'context', name, data.contexts).context;
  const { cluster: it } = find(file, 'cluster', chosen.cluster, data.clusters);
  const who = chosen.user === '' ? {} : find(file, 'user', chosen.user, data.users ?? []).user;
  const authority = await readPem(file, it['certificate-authority-data'], it['certificate-authority']);
  const serverName = it['tls-server-name'];
  return {
    server: it.server.replace(/\/+$/, ''),
    verify: !it['insecure-skip-tls-verify'],
    ...compact({ authority, serverName }),
    ...(await identify(file, who, findProgram)),
  };
}

const describeIssues = ({ issues }: z.ZodError): string =>
  issues
    .map(({ path: at, message }) => [at.join('.'), message].filter((text) => text !== '').join(': '))
    .join('; ');

function find<T extends { readonly name: string }>(
  file: string,
  kind: string,
  name: string,
  list: readonly T[],
): T {
  const found = list.find((each) => each.name === name);
  if (found !== undefined) return found;
  throw invalid(file, `there is no ${kind} ${JSON.stringify(name)}`);
}

async function identify(
  file: string,
  who: User,
  findProgram: FindProgram,
): Promise<Pick<ClusterAccess, 'certificate' | 'token'>> {
  const cert = await readPem(file, who['client-certificate-data'], who['client-certificate']);
  const key = await readPem(file, who['client-key-data'], who['client-key']);
  if ((cert === undefined) !== (key === undefined))
    throw invalid(file, 'a client certificate needs its key, and the other way round');
  const own = cert === undefined || key === undefined ? undefined : { cert, key };
  const { token, tokenFile, exec } = who;
  // As client-go has it: a file is read again, since it is renewed, and wins over a token in the kubeconfig.
  if (tokenFile !== undefined)
    return compact({ certificate: own, token: () => readToken(resolveFrom(file, tokenFile)) });
  if (token !== undefined) return compact({ certificate: own, token: () => Promise.resolve(token) });
  if (exec === undefined) return compact({ certificate: own });
  const run = findProgram(exec);
  const found = await run(AbortSignal.timeout(programDeadline));
  return compact({
    certificate: found.certificate ?? own,
    token: async (signal: AbortSignal) => (await run(signal)).token,
  });
}

async function readToken(file: string): Promise<string> {
  return (await fs.readFile(file, 'utf8')).trim();
}

interface Credential {
  readonly token?: string;
  readonly certificate?: NonNullable<ClusterAccess['certificate']>;
}

type ExecPlugin = z.output<typeof execPlugin>;
type RunProgram = (signal: AbortSignal) => Promise<Credential>;
type FindProgram = (exec: ExecPlugin) => RunProgram;

/** Milliseconds. */
const programDeadline = 30_000;
/** Milliseconds that a credential without an end is kept. */
const usualLife = 60_000;
/** Milliseconds before its end at which a credential is asked for anew. */
const spareTime = 60_000;

/** client.authentication.k8s.io/v1, ExecCredential. */
const credential = z.object({
  status: z
    .object({
      token: z.string().optional(),
      clientCertificateData: z.string().optional(),
      clientKeyData: z.string().optional(),
      expirationTimestamp: z.iso.datetime({ offset: true }).optional(),
    })
    .refine(({ token, clientCertificateData: cert }) => token !== undefined || cert !== undefined, {
      error: 'has neither token nor clientCertificateData',
    })
    .refine(
      ({ clientCertificateData: cert, clientKeyData: key }) => (cert === undefined) === (key === undefined),
      {
        error: 'clientCertificateData and clientKeyData belong together',
      },
    ),
});

/** A credential is kept until a minute before it expires, also when the kubeconfig is read again. */
function programOf(file: string, exec: ExecPlugin, programs: Map<string, RunProgram>): RunProgram {
  const key = JSON.stringify(exec);
  const known = programs.get(key);
  if (known !== undefined) return known;
  let kept: { readonly credential: Credential; readonly until: number } | undefined;
  const run: RunProgram = async (signal) => {
    if (kept !== undefined && Date.now() < kept.until) return kept.credential;
    const {
      expirationTimestamp,
      token,
      clientCertificateData: cert,
      clientKeyData,
    } = await runProgram(file, exec, signal);
    const until =
      expirationTimestamp === undefined
        ? Date.now() + usualLife
        : Date.parse(expirationTimestamp) - spareTime;
    const certificate = cert === undefined ? undefined : { cert, key: clientKeyData! };
    kept = { credential: compact({ token, certificate }), until };
    return kept.credential;
  };
  programs.set(key, run);
  return run;
}

/** @throws PodwireError CONFIG_INVALID with the program and what is wrong with its answer, in a sentence */
async function runProgram(
  file: string,
  { command, args, env }: ExecPlugin,
  signal: AbortSignal,
): Promise<z.output<typeof credential>['status']> {
  const more = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
  const KUBERNETES_EXEC_INFO =
    '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":false}}';
  const options = {
    env: { ...process.env, ...more, KUBERNETES_EXEC_INFO },
    timeout: programDeadline,
    signal,
  };
  const { stdout } = await promisify(execFile)(command, args ?? [], options).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw invalid(file, `the program ${command} failed: ${firstLine(describeError(cause))}`, cause);
  });
  const read = credential.safeParse(parseJson(stdout));
  if (read.success) return read.data.status;
  throw invalid(file, `the program ${command} has printed no credential: ${describeIssues(read.error)}`);
}

const firstLine = (text: string): string => text.split('\n', 1)[0]!;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const inClusterFiles = '/var/run/secrets/kubernetes.io/serviceaccount';

/** For a pod agent that is a pod itself. @throws PodwireError CONFIG_INVALID outside of a cluster */
export async function loadInCluster(
  env: Readonly<Record<string, string | undefined>>,
): Promise<ClusterAccess> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  if (host === undefined || port === undefined)
    throw new PodwireError(
      'CONFIG_INVALID',
      'KUBERNETES_SERVICE_HOST and _PORT are not set: this is not inside a cluster',
    );
  return {
    server: `https://${bracketHost(host)}:${port}`,
    verify: true,
    authority: await fs.readFile(path.join(inClusterFiles, 'ca.crt'), 'utf8'),
    token: () => readToken(path.join(inClusterFiles, 'token')),
    renew: () => loadInCluster(env),
  };
}

async function readYaml(file: string): Promise<unknown> {
  try {
    return parse(await fs.readFile(file, 'utf8'), { maxAliasCount: 20 }) as unknown;
  } catch (cause) {
    throw invalid(file, describeError(cause), cause);
  }
}

async function readPem(
  file: string,
  data: string | undefined,
  pem: string | undefined,
): Promise<string | undefined> {
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8');
  if (pem === undefined) return undefined;
  try {
    return await fs.readFile(resolveFrom(file, pem), 'utf8');
  } catch (cause) {
    throw invalid(file, describeError(cause), cause);
  }
}

const resolveFrom = (file: string, relative: string): string => path.resolve(path.dirname(file), relative);

function invalid(file: string, what: string, cause?: unknown): PodwireError {
  return new PodwireError('CONFIG_INVALID', `${file}: ${what}`, { cause, details: { file } });
}
