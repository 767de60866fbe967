/** Injected environment, and the tools of a concurrent program; see the README for the list. */
export { onAbort, orAborted, pause, repeat, untilAborted, waitUntil } from './abort.js';
export { AsyncQueue } from './async-queue.js';
export { Backoff, backoffDelay, type BackoffOptions } from './backoff.js';
export { type Compact, compact } from './compact.js';
export { type DeadlineOptions, deadlineSignal, withDeadline } from './deadline.js';
export {
  type Clock,
  type FaultPoints,
  type Log,
  longestTimer,
  noFaults,
  silentLog,
  systemClock,
} from './environment.js';
export {
  type AsyncFiles,
  type AsyncReplaceOptions,
  hasCode,
  ifExists,
  readIfExists,
  readIfExistsSync,
  replaceFile,
  replaceFileSync,
  syncDirectory,
  type ReplaceOptions,
} from './files.js';
export { groupBy } from './group-by.js';
export { Heap } from './heap.js';
export { joinConnection } from './join-connection.js';
export { KeyedMutex } from './keyed-mutex.js';
export { Notify } from './notify.js';
export { ErrorCollector, orUndefined, succeeds } from './outcome.js';
export { forEachLimited, Semaphore } from './semaphore.js';
export { createOnDemand, type OnDemand, Singleflight } from './singleflight.js';
export { editDistance, suggestWord } from './suggest.js';
export { describeYamlError } from './yaml-words.js';
export { type Requeue, Workqueue, type WorkqueueOptions } from './workqueue.js';
