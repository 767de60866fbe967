/** Programs inside containers: their view, and their effects outside. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { ContainerState } from '@podwire/cri';
import type { CaseContext, ComplianceCase } from './target.js';
import {
  assertRefused,
  containerStatus,
  createContainer,
  runInside,
  sandboxStatus,
  startContainer,
  text,
  uniqueName,
  until,
  untilExited,
  withSandbox,
  type Sandbox,
} from './tools.js';

const runner = (context: CaseContext, sandbox: Sandbox, fields = {}): Promise<string> =>
  startContainer(context, sandbox, { command: context.programs.untilTerm(), ...fields });

export const programCases: readonly ComplianceCase[] = [
  {
    title: 'ExecSync tells output, errors and exit code apart',
    needs: ['programs'],
    run: (context) =>
      withSandbox(context, {}, async (sandbox) => {
        const containerId = await runner(context, sandbox);
        const cmd = [context.busybox, 'sh', '-c', 'echo out; echo err >&2; exit 5'];
        const { stdout, stderr, exitCode } = await context.runtime.execSync({
          containerId,
          cmd,
          timeout: 10n,
        });
        assert.deepEqual([text(stdout), text(stderr), exitCode], ['out\n', 'err\n', 5]);
      }),
  },
  {
    title: 'ExecSync hands on bytes as they are, and many of them',
    needs: ['programs'],
    run: (context) =>
      withSandbox(context, {}, async (sandbox) => {
        const containerId = await runner(context, sandbox);
        const script = `printf '\\377\\000\\n'; ${context.busybox} head -c 300000 /dev/zero`;
        const cmd = [context.busybox, 'sh', '-c', script];
        const { stdout } = await context.runtime.execSync({ containerId, cmd, timeout: 20n });
        assert.deepEqual([...stdout.subarray(0, 3)], [255, 0, 10]);
        assert.equal(stdout.length, 300_003);
      }),
  },
  {
    title: 'ExecSync is over when its time is, and its program with it',
    needs: ['programs'],
    run: (context) =>
      withSandbox(context, {}, async (sandbox) => {
        const containerId = await runner(context, sandbox);
        const cmd = [context.busybox, 'sleep', '543'];
        await assertRefused(context.runtime.execSync({ containerId, cmd, timeout: 1n }), 'DEADLINE_EXCEEDED');
        // At once: a caller that gets the event may run it again. A zombie counts as well.
        const running = await runInside(context, containerId, `${context.busybox} ps -o stat,args`);
        assert.doesNotMatch(running, /sleep 543|^ *Z/m);
      }),
  },
  {
    title: 'ExecSync of a program that is missing, and in a container that has ended, does not end well',
    needs: ['programs'],
    run: (context) =>
      withSandbox(context, {}, async (sandbox) => {
        const { runtime, programs } = context;
        const containerId = await runner(context, sandbox);
        const missing = { containerId, cmd: ['/no/such/program'], timeout: 5n };
        const outcome = await runtime.execSync(missing).catch(() => ({ exitCode: 127 }));
        assert.ok([126, 127].includes(outcome.exitCode), `exit code ${outcome.exitCode}`);
        const ended = await startContainer(context, sandbox, { command: programs.exits(0) });
        await untilExited(context, ended);
        const cmd = [context.busybox, 'true'];
        await assertRefused(runtime.execSync({ containerId: ended, cmd, timeout: 5n }));
      }),
  },
  {
    title: 'programs get their variables, working directory and arguments',
    needs: ['programs', 'logs'],
    run: (context) =>
      withSandbox(context, { logDirectory: context.directory }, async (sandbox) => {
        const logPath = `${uniqueName('env')}.log`;
        const id = await startContainer(context, sandbox, {
          command: [context.busybox, 'sh', '-c', 'echo "$COLOUR|$(pwd)|$1"; exit 0', 'sh'],
          args: ['an argument'],
          envs: [{ key: 'COLOUR', value: 'dark blue' }],
          workingDir: '/tmp',
          logPath,
        });
        await untilExited(context, id);
        const [line] = await logLines(context, logPath, 1);
        assert.equal(line?.text, 'dark blue|/tmp|an argument');
      }),
  },
  {
    title: 'masked paths are empty and read-only paths cannot be written to',
    needs: ['programs'],
    run: (context) =>
      withSandbox(context, {}, async (sandbox) => {
        const securityContext = { maskedPaths: ['/proc/version'], readonlyPaths: ['/tmp'] };
        const id = await runner(context, sandbox, { linux: { securityContext } });
        const { busybox } = context;
        const script = `${busybox} wc -c < /proc/version; ${busybox} touch /tmp/file 2> /dev/null || echo refused`;
        assert.deepEqual((await runInside(context, id, script)).split('\n'), ['0', 'refused']);
      }),
  },
  {
    title: 'ExecSync runs with the variables and in the working directory of its container',
    needs: ['programs'],
    run: (context) =>
      withSandbox(context, {}, async (sandbox) => {
        const envs = [{ key: 'COLOUR', value: 'green' }];
        const id = await runner(context, sandbox, { envs, workingDir: '/tmp' });
        assert.equal(await runInside(context, id, 'echo "$COLOUR $(pwd)"'), 'green /tmp');
      }),
  },
  {
    title: 'a container whose program is missing does not start, and can be removed',
    needs: ['programs'],
    run: (context) =>
      withSandbox(context, {}, async (sandbox) => {
        const containerId = await createContainer(context, sandbox, { command: ['/no/such/program'] });
        await assertRefused(context.runtime.startContainer({ containerId }));
        const { state } = await containerStatus(context, containerId);
        assert.notEqual(state, ContainerState.CONTAINER_RUNNING);
        await context.runtime.removeContainer({ containerId });
        await assertRefused(containerStatus(context, containerId), 'NOT_FOUND');
      }),
  },
  {
    title: 'long lines come in pieces, of which all but the last are marked as such',
    needs: ['programs', 'logs'],
    run: (context) =>
      withSandbox(context, { logDirectory: context.directory }, async (sandbox) => {
        const logPath = `${uniqueName('long')}.log`;
        const script = `${context.busybox} head -c 40000 /dev/zero | ${context.busybox} tr '\\0' x; echo; echo end`;
        await startContainer(context, sandbox, { command: [context.busybox, 'sh', '-c', script], logPath });
        const lines = await until('the end of the log', async () => {
          const all = await logLines(context, logPath, 1);
          return all.at(-1)?.text === 'end' ? all : undefined;
        });
        assert.equal(lines.map(({ text: piece }) => piece).join(''), `${'x'.repeat(40_000)}end`);
        const marks = lines.map(({ mark }) => mark).join('');
        assert.match(marks, /^P+FF$/);
      }),
  },
  {
    title: 'log lines have time, stream and a mark for whole ones, and the file is begun again when asked',
    needs: ['programs', 'logs'],
    run: (context) =>
      withSandbox(context, { logDirectory: context.directory }, async (sandbox) => {
        const logPath = `${uniqueName('lines')}.log`;
        const go = uniqueName('/tmp/go');
        const script = `echo one; echo two >&2; until [ -e ${go} ]; do ${context.busybox} sleep 0.05; done; echo three; ${context.busybox} sleep 1000`;
        const containerId = await startContainer(context, sandbox, {
          command: [context.busybox, 'sh', '-c', script],
          logPath,
        });
        const lines = await logLines(context, logPath, 2);
        assert.deepEqual(
          lines.map(({ stream, mark, text: written }) => `${stream} ${mark} ${written}`).sort(),
          ['stderr F two', 'stdout F one'],
        );
        const file = path.join(context.directory, logPath);
        fs.renameSync(file, `${file}.1`);
        await context.runtime.reopenContainerLog({ containerId });
        await runInside(context, containerId, `: > ${go}`);
        const [third] = await logLines(context, logPath, 1);
        assert.equal(third?.text, 'three');
      }),
  },
  {
    title: 'directories of the host are seen at their place, and are only read where it says so',
    needs: ['programs', 'mounts'],
    run: (context) =>
      withSandbox(context, {}, async (sandbox) => {
        const hostPath = fs.mkdtempSync(path.join(context.directory, 'mount-'));
        fs.writeFileSync(path.join(hostPath, 'greeting'), 'hello');
        const id = await runner(context, sandbox, {
          mounts: [
            { hostPath, containerPath: '/tmp/shared' },
            { hostPath, containerPath: '/tmp/fixed', readonly: true },
          ],
        });
        assert.equal(await runInside(context, id, `${context.busybox} cat /tmp/fixed/greeting`), 'hello');
        await runInside(context, id, 'echo back > /tmp/shared/answer');
        assert.equal(fs.readFileSync(path.join(hostPath, 'answer'), 'utf8'), 'back\n');
        const refused = await runInside(context, id, '(echo x > /tmp/fixed/no) 2>/dev/null || echo refused');
        assert.equal(refused, 'refused');
      }),
  },
  {
    title: 'containers have the hostname of their sandbox',
    needs: ['programs', 'hostname'],
    run: (context) =>
      withSandbox(context, { hostname: 'a-host-of-its-own' }, async (sandbox) => {
        const id = await runner(context, sandbox);
        assert.equal(await runInside(context, id, `${context.busybox} hostname`), 'a-host-of-its-own');
      }),
  },
  {
    title: 'the DNS configuration is what /etc/resolv.conf says',
    needs: ['programs', 'dns'],
    run: (context) => {
      const dnsConfig = { servers: ['10.10.10.10'], searches: ['a.test', 'b.test'], options: ['ndots:8'] };
      return withSandbox(context, { dnsConfig }, async (sandbox) => {
        const id = await runner(context, sandbox);
        const lines = (await runInside(context, id, `${context.busybox} cat /etc/resolv.conf`)).split('\n');
        for (const line of ['nameserver 10.10.10.10', 'search a.test b.test', 'options ndots:8'])
          assert.ok(lines.includes(line), `${line} is not in ${lines.join(' / ')}`);
      });
    },
  },
  {
    title: 'programs run as the user that is asked for',
    needs: ['programs', 'users'],
    run: (context) =>
      withSandbox(context, {}, async (sandbox) => {
        const securityContext = { runAsUser: { value: 1234n }, runAsGroup: { value: 4321n } };
        const id = await runner(context, sandbox, { linux: { securityContext } });
        const script = `${context.busybox} id -u; ${context.busybox} id -g`;
        assert.equal(await runInside(context, id, script), '1234\n4321');
      }),
  },
  {
    title: 'containers of a sandbox share its network, and other sandboxes reach it at its address',
    needs: ['programs', 'addresses', 'traffic'],
    run: (context) =>
      withSandbox(context, {}, (server) =>
        withSandbox(context, {}, async (client) => {
          const { busybox } = context;
          const script = `echo hello > /tmp/index.html; exec ${busybox} httpd -f -p 8080 -h /tmp`;
          await startContainer(context, server, { command: [busybox, 'sh', '-c', script] });
          const { network } = await sandboxStatus(context, server.id);
          // Not -T: the static busybox of Debian 12 crashes by it.
          const fetchFrom = async (sandbox: Sandbox, host: string): Promise<void> => {
            const containerId = await runner(context, sandbox);
            const cmd = [busybox, 'wget', '-q', '-O', '-', `http://${host}:8080/index.html`];
            await until(`an answer of ${host}`, async () => {
              const { stdout } = await context.runtime.execSync({ containerId, cmd, timeout: 10n });
              return text(stdout) === 'hello\n' ? true : undefined;
            });
          };
          await fetchFrom(server, '127.0.0.1');
          await fetchFrom(client, network?.ip ?? '');
        }),
      ),
  },
];

interface LogLine {
  readonly stream: string;
  readonly mark: string;
  readonly text: string;
}

/** The runtime writes when it has read from the program: waits for `count` lines. */
function logLines({ directory }: CaseContext, logPath: string, count: number): Promise<LogLine[]> {
  const file = path.join(directory, logPath);
  return until(`${count} lines in ${file}`, async () => {
    const content = await fs.promises.readFile(file, 'utf8').catch(() => '');
    const lines = content.split('\n').slice(0, -1);
    return lines.length >= count ? lines.map(readLogLine) : undefined;
  });
}

function readLogLine(line: string): LogLine {
  const match = /^(\S+) (stdout|stderr) ([FP]) (.*)$/.exec(line);
  assert.ok(match, `this is no line of a CRI log: ${line}`);
  const [, time = '', stream = '', mark = '', written = ''] = match;
  assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/);
  return { stream, mark, text: written };
}
