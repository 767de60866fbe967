import fs from 'node:fs';

/**
 * Milliseconds that all threads of a process have spent on processors: the first field of each thread's schedstat, which
 * counts nanoseconds (kernel documentation, scheduler/sched-stats). A thread that has ended takes its time with it.
 */
export function processorTime(pid: number): number {
  const threads = fs.readdirSync(`/proc/${pid}/task`);
  const timeOf = (thread: string): number =>
    Number(fs.readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
  return threads.reduce((sum, thread) => sum + timeOf(thread), 0) / 1e6;
}

/** Bytes of memory that a process has resident now. */
export function residentBytes(pid: number): number {
  const kibibytes = /^VmRSS:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kibibytes) * 1_024;
}
