/** Calls to whichever member answers, as often as is safe. */
import { setMaxListeners } from 'node:events';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import type { PodwireError } from '@podwire/errors';
import { type Clock, type Log, orAborted } from '@podwire/platform';
import { unavailable } from '../failures.js';
import { ask } from './ask.js';
import { type Endpoint, Endpoints } from './endpoints.js';
import { EtcdFailure, toFailure, toPodwireError } from './failure.js';
import { logIn } from './login.js';
import type { Method } from './methods.js';
import { type EtcdOptions, type EtcdSpec, type EtcdTimeouts, usualTimeouts } from './options.js';
import { Tokens } from './tokens.js';

/**
 * Handling of an attempt of which it is unknown if it took effect.
 * - `read`: it has none.
 * - `repeatable`: a second time changes nothing.
 * - `guarded`: it cannot happen twice, since it makes its own condition fail.
 * - `once`: nothing; the caller has to read.
 */
export type Repetition = 'read' | 'repeatable' | 'guarded' | 'once';

export interface Call<Request, Response> {
  readonly method: Method<Request, Response>;
  readonly request: Request;
  readonly repetition: Repetition;
  readonly signal?: AbortSignal | undefined;
}

export interface Answer<Response> {
  readonly response: Response;
  /** An attempt before this one may have had its effect. */
  readonly isRepeated: boolean;
}

/** A call on its way. */
interface Course {
  /** By the monotonic clock. */
  readonly end: number;
  /** An attempt may have had its effect. */
  isUncertain: boolean;
  renewals: number;
  /** The last failure of each member. */
  readonly failures: Map<Endpoint, EtcdFailure>;
}

/** Milliseconds, before a cluster without a leader is asked again: an election takes one to two seconds. */
const firstPause = 100;
const longestPause = 1_000;
/**
 * Milliseconds that a repetition must have left. A shorter one would end without an answer: of a write that was refused so far it
 * would then be unknown if it took effect, and the member's own words would be lost.
 */
const shortestRepeat = 250;
/** A token that was just made is unknown to a member that lags behind. */
const mostRenewals = 3;

/** A call that no member accepted fails at once: the caller has its own back-off. */
const isWorthwhile = ({ failures }: Course): boolean =>
  [...failures.values()].some(({ kind }) => kind !== 'unsent');

export class Session {
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly timeouts: EtcdTimeouts;
  readonly #endpoints: Endpoints;
  readonly #tokens: Tokens;
  /** Ends what is under way. */
  readonly #closing = new AbortController();

  constructor(spec: EtcdSpec, { clock, log, random = Math.random, timeouts }: EtcdOptions) {
    this.clock = clock;
    this.log = log;
    this.random = random;
    this.timeouts = { ...usualTimeouts, ...timeouts };
    // Every call and every watch listens to it.
    setMaxListeners(0, this.#closing.signal);
    this.#endpoints = new Endpoints(spec, this.timeouts, random);
    this.#tokens = new Tokens(
      spec.username === undefined ? undefined : () => logIn(spec, this.#first(), this.timeouts.attempt, log),
    );
  }

  /** Aborts when the store is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** @throws EtcdFailure of the kinds compacted, future and no-lease; PodwireError for all others; the signal's reason */
  async call<Q, A>(call: Call<Q, A>): Promise<Answer<A>> {
    const end = this.clock.elapsed() + this.timeouts.call;
    const course: Course = { end, isUncertain: false, renewals: 0, failures: new Map() };
    for (let pause = firstPause; ; pause = Math.min(2 * pause, longestPause)) {
      const answer = await this.#askAll(call, course);
      if (answer !== undefined) return answer;
      const wait = pause * (0.5 + this.random());
      if (this.isClosed || !isWorthwhile(course) || this.clock.elapsed() + wait + shortestRepeat >= end)
        throw this.#giveUp(call, course);
      const pausing = this.clock.sleep(wait, call.signal ?? this.closing);
      await orAborted(pausing, this.closing).catch(() => undefined);
      call.signal?.throwIfAborted();
    }
  }

  /** A stream to the member in use. @throws EtcdFailure when there is no connection; the signal's reason */
  async openStream<Q, A>(
    { path, encode, decode }: Method<Q, A>,
    signal: AbortSignal,
  ): Promise<{ readonly stream: ClientDuplexStream<Q, A>; readonly endpoint: Endpoint }> {
    const endpoint = this.#first();
    try {
      const { metadata } = await orAborted(this.#tokens.pass(), signal);
      const client = await orAborted(endpoint.connect(this.timeouts.connect), signal);
      this.#closing.signal.throwIfAborted();
      return { stream: client.makeBidiStreamRequest(path, encode, decode, metadata), endpoint };
    } catch (error) {
      signal.throwIfAborted();
      const failure = toFailure(error);
      this.leave(endpoint, failure);
      throw failure;
    }
  }

  /** For what went wrong there: the next call or stream goes to another member, or makes its connection anew. */
  leave(endpoint: Endpoint, failure: EtcdFailure): void {
    if (this.isClosed) return;
    if (!failure.isAnswer) endpoint.drop();
    if (failure.kind !== 'unsent' && failure.kind !== 'unready' && failure.kind !== 'unknown') return;
    if (this.#endpoints.leave(endpoint))
      this.log.info({ endpoint: endpoint.url, reason: failure.message }, 'etcd: another member is asked now');
  }

  close(): void {
    this.#closing.abort(unavailable('the store is closed'));
    this.#endpoints.close();
  }

  /** One member after the other, beginning with the one in use. @throws failures that every member would return */
  async #askAll<Q, A>(call: Call<Q, A>, course: Course): Promise<Answer<A> | undefined> {
    for (const [index, endpoint] of this.#endpoints.inOrder().entries()) {
      const needed = course.failures.has(endpoint) ? shortestRepeat : 0;
      if (this.isClosed || this.clock.elapsed() + needed >= course.end) return undefined;
      try {
        const response = await this.#askOne(call, endpoint, course);
        if (index > 0) this.#endpoints.prefer(endpoint);
        return { response, isRepeated: course.isUncertain };
      } catch (error) {
        call.signal?.throwIfAborted();
        this.#evaluate(call, endpoint, course, toFailure(error));
      }
    }
    return undefined;
  }

  async #askOne<Q, A>(call: Call<Q, A>, endpoint: Endpoint, course: Course): Promise<A> {
    const { signal, repetition, method, request } = call;
    const left = (): number => course.end - this.clock.elapsed();
    for (;;) {
      const pass = await orAborted(this.#tokens.pass(), signal);
      const client = await orAborted(endpoint.connect(Math.min(this.timeouts.connect, left())), signal);
      // With no other member to ask, waiting is all that is left.
      const isPatient = repetition === 'once' || this.#endpoints.all.length === 1;
      const milliseconds = isPatient ? left() : Math.min(left(), this.timeouts.attempt);
      const ends = [signal, this.#closing.signal].filter((each) => each !== undefined);
      try {
        return await ask(client, method, request, { metadata: pass.metadata, milliseconds, ends });
      } catch (error) {
        const failure = toFailure(error);
        if (failure.kind !== 'token' || !this.#tokens.canRenew || course.renewals >= mostRenewals)
          throw failure;
        course.renewals += 1;
        await this.#tokens.renew(pass);
      }
    }
  }

  /** @throws unless the next member may be asked */
  #evaluate<Q, A>(call: Call<Q, A>, endpoint: Endpoint, course: Course, failure: EtcdFailure): void {
    const { repetition } = call;
    course.failures.set(endpoint, failure);
    this.leave(endpoint, failure);
    switch (failure.kind) {
      case 'unsent':
      case 'unready':
        return;
      case 'unknown':
        course.isUncertain ||= repetition !== 'read';
        if (repetition === 'once') throw this.#giveUp(call, course);
        return;
      case 'no-lease':
        // It may have ended after an attempt that was done: what that wrote without a lease is there.
        if (course.isUncertain && repetition === 'guarded') throw this.#giveUp(call, course);
        throw failure;
      case 'compacted':
      case 'future':
        throw failure;
      case 'token':
      case 'final':
        // etcd does the write that finds it full, and refuses those after it (quotaApplierV3): the answer is the same.
        course.isUncertain ||= failure.code === 'STORE_FULL' && repetition !== 'read';
        throw toPodwireError(failure, `${call.method.name} at ${endpoint.url}`, course.isUncertain);
    }
  }

  #giveUp<Q, A>({ method }: Call<Q, A>, { failures, isUncertain }: Course): PodwireError {
    if (this.isClosed) return unavailable('the store is closed', { uncertain: isUncertain });
    const all = [...failures.entries()];
    const said = all.map(([{ url }, { message }]) => `${url}: ${message}`).join('; ');
    const cause = all.at(-1)?.[1];
    const isDenied = all.length > 0 && all.every(([, { code }]) => code === 'STORE_DENIED');
    const message = `${method.name}: ${said === '' ? 'no member of etcd answered in time' : said}`;
    const failure = new EtcdFailure('final', message, { cause, ...(isDenied && { code: 'STORE_DENIED' }) });
    return toPodwireError(failure, 'etcd', isUncertain);
  }

  #first(): Endpoint {
    const [first] = this.#endpoints.inOrder();
    if (first === undefined) throw new TypeError('no endpoints');
    return first;
  }
}
