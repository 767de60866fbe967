/**
 * One SPDY/3.1 connection over a socket, either end.
 *
 * The behaviour of this protocol's peers (spdystream, which kubectl, kubelet, crictl, containerd and CRI-O are built
 * with) decides two points: it neither sends nor heeds WINDOW_UPDATE, so a window is enforced only on and for a peer
 * that has shown that it knows them by SETTINGS or WINDOW_UPDATE; towards all others TCP itself is the back-pressure,
 * and reading stops when too much waits for its readers. And it drops data that comes before SYN_REPLY, so `open` waits
 * for that.
 */
import type { Socket } from 'node:net';
import { QueuedDuplex } from '../queued-duplex.js';
import { createHeaderCompressor, createHeaderDecompressor } from './compression.js';
import { createFrameDecoder, type FrameLimits } from './decoder.js';
import { goAwayStatus, resetStatus, SpdyProtocolError, SpdyResetError } from './error.js';
import { settingIds, type SettingsEntry, type SpdyFrame } from './frames.js';
import { decodeHeaderBlock, encodeHeaderBlock, type SpdyHeaders } from './header-block.js';
import { SpdySender } from './sender.js';
import {
  createReceiveWindow,
  defaultWindow,
  type PeerFlowControl,
  type ReceiveWindow,
  type SendWindow,
  widen,
} from './window.js';

export interface SpdyLimits extends FrameLimits {
  /** bytes of a header block, unpacked; 64 KiB when absent */
  readonly headerBlock?: number;
  /** streams open at once that the peer began; 512 when absent */
  readonly streams?: number;
  /** bytes that we let a stream receive before its reader takes them; 128 KiB when absent */
  readonly window?: number;
  /** bytes waiting for their readers at which we stop reading the connection; 4 MiB when absent */
  readonly buffered?: number;
  /** bytes of unread answers at which we give the peer up; 1 MiB when absent */
  readonly backlog?: number;
}

export interface SpdyConnectionOptions {
  readonly role: 'client' | 'server';
  readonly limits?: SpdyLimits;
  /**
   * Takes a stream that the peer opens, or refuses it by returning false. All are refused when absent. What is written to it
   * before this returns would come before the reply, and peers drop that.
   */
  readonly onStream?: (stream: SpdyStream) => boolean;
}

/** One stream: both halves, with half close. Destroying it resets it; the event `reset` tells that the peer did. */
export interface SpdyStream extends QueuedDuplex {
  readonly id: number;
  readonly headers: SpdyHeaders;
}

export interface SpdyConnection {
  /** Opens a stream. Resolves when the peer has accepted it, rejects when it refuses or goes. */
  open(headers: SpdyHeaders): Promise<SpdyStream>;
  /** Resolves when the socket is closed, for whatever reason. */
  readonly closed: Promise<void>;
  /** Resets the streams that are open, says goodbye, and ends the socket once the peer has all of it. */
  close(): void;
  /** Drops the connection at once. */
  destroy(error?: Error): void;
}

interface Entry {
  readonly stream: QueuedDuplex & { id: number; headers: SpdyHeaders };
  readonly sendWindow: SendWindow;
  readonly receiveWindow: ReceiveWindow;
  readonly ours: boolean;
  finSent: boolean;
  /** Of a stream that we opened, until the peer answers. */
  answer: { resolve(stream: SpdyStream): void; reject(error: Error): void } | undefined;
}

const heartbeatMs = 10_000;
/** How long a peer that was said goodbye to may read nothing, before the rest of what was sent to it is dropped. */
const lingerMs = 30_000;

/** Speaks SPDY/3.1 on a socket that was upgraded to it. The socket is this connection's from now on. */
export function createSpdyConnection(socket: Socket, options: SpdyConnectionOptions): SpdyConnection {
  const connection = new Connection(socket, options);
  connection.start();
  return connection;
}

class Connection implements SpdyConnection {
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  readonly #options: SpdyConnectionOptions;
  readonly #limits: Required<Omit<SpdyLimits, keyof FrameLimits>>;
  readonly #sender: SpdySender;
  readonly #decode: (chunk: Buffer) => SpdyFrame[];
  readonly #pack = createHeaderCompressor();
  readonly #unpack: (packed: Buffer) => Buffer;
  readonly #entries = new Map<number, Entry>();
  readonly #sessionWindow: ReceiveWindow;
  #peerWindow = defaultWindow;
  #peer: PeerFlowControl = 'unknown';
  #nextId: number;
  #lastPeerId = 0;
  #buffered = 0;
  #goneAway = false;
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(socket: Socket, options: SpdyConnectionOptions) {
    const { limits = {} } = options;
    this.#socket = socket;
    this.#options = options;
    this.#limits = {
      headerBlock: 65_536,
      streams: 512,
      window: 131_072,
      buffered: 4_194_304,
      backlog: 1_048_576,
      ...limits,
    };
    this.#decode = createFrameDecoder(limits);
    this.#unpack = createHeaderDecompressor(this.#limits.headerBlock);
    this.#sender = new SpdySender(socket, this.#limits.backlog, (error) => this.destroy(error));
    this.#sessionWindow = createReceiveWindow(this.#limits.buffered);
    this.#nextId = options.role === 'client' ? 1 : 2;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
  }

  start(): void {
    this.#sender.control({
      type: 'settings',
      clear: false,
      entries: [
        { id: settingIds.MAX_CONCURRENT_STREAMS, flags: 0, value: this.#limits.streams },
        { id: settingIds.INITIAL_WINDOW_SIZE, flags: 0, value: this.#limits.window },
      ],
    });
    const more = this.#limits.buffered - defaultWindow;
    if (more > 0) this.#sender.control({ type: 'windowUpdate', streamId: 0, delta: more });
    this.#socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    // A half-closed socket means the peer is gone: SPDY ends streams with frames.
    this.#socket.on('end', () => this.#socket.end());
    this.#socket.on('error', () => undefined);
    this.#socket.once('close', () => this.#lose());
    this.#socket.resume();
  }

  open(headers: SpdyHeaders): Promise<SpdyStream> {
    if (this.#goneAway || this.#socket.destroyed) {
      return Promise.reject(new Error('the connection is closing'));
    }
    const streamId = this.#nextId;
    this.#nextId += 2;
    return new Promise((resolve, reject) => {
      const entry = this.#add(streamId, headers, true);
      entry.answer = { resolve, reject };
      const block = this.#pack(encodeHeaderBlock(headers));
      this.#sender.control({
        type: 'synStream',
        streamId,
        associatedTo: 0,
        priority: 0,
        fin: false,
        unidirectional: false,
        block,
      });
    });
  }

  close(): void {
    if (this.#socket.destroyed) return;
    for (const { stream } of [...this.#entries.values()]) stream.destroy();
    if (!this.#goneAway) this.#sendGoAway(goAwayStatus.OK);
    this.#goneAway = true;
    this.#socket.end();
    this.#socket.setTimeout(lingerMs, () => this.#socket.destroy());
    // Nothing that still comes matters, but a socket that is not read keeps its peer's end from being seen.
    this.#buffered = 0;
    this.#resumeReading();
  }

  destroy(error?: Error): void {
    this.#goneAway = true;
    this.#socket.destroy(error);
  }

  #receive(chunk: Buffer): void {
    try {
      for (const frame of this.#decode(chunk)) this.#handle(frame);
    } catch (error) {
      if (!(error instanceof SpdyProtocolError)) throw error;
      this.#sendGoAway(goAwayStatus.PROTOCOL_ERROR);
      this.destroy(error);
    }
  }

  #handle(frame: SpdyFrame): void {
    switch (frame.type) {
      case 'data':
        return this.#handleData(frame.streamId, frame.data, frame.fin);
      case 'synStream':
        return this.#handleSynStream(frame);
      case 'synReply':
        return this.#handleReply(frame);
      case 'headers':
        // Late headers are not used here, but the compression's state depends on every block.
        decodeHeaderBlock(this.#unpack(frame.block));
        if (frame.fin) this.#finish(frame.streamId);
        return;
      case 'rstStream':
        return this.#handleReset(frame.streamId, frame.status);
      case 'settings':
        return this.#handleSettings(frame.entries);
      case 'ping':
        return this.#handlePing(frame.id);
      case 'goAway':
        return this.#handleGoAway(frame.lastGoodStreamId);
      case 'windowUpdate':
        return this.#handleWindowUpdate(frame.streamId, frame.delta);
    }
  }

  #handleSynStream(frame: SpdyFrame & { readonly type: 'synStream' }): void {
    const { streamId } = frame;
    const headers = decodeHeaderBlock(this.#unpack(frame.block));
    const theirs = this.#options.role === 'server' ? 1 : 0;
    if (streamId % 2 !== theirs || streamId <= this.#lastPeerId) {
      throw new SpdyProtocolError(`stream ${streamId} after stream ${this.#lastPeerId}`);
    }
    this.#lastPeerId = streamId;
    if (this.#goneAway || this.#countTheirs() >= this.#limits.streams) return this.#refuse(streamId);
    const entry = this.#add(streamId, headers, false);
    if (frame.unidirectional) entry.finSent = true;
    if (this.#options.onStream?.(entry.stream) !== true) {
      this.#entries.delete(streamId);
      entry.stream.destroy();
      return this.#refuse(streamId);
    }
    if (!frame.unidirectional) this.#reply(streamId);
    if (frame.fin) this.#finish(streamId);
  }

  #reply(streamId: number): void {
    const block = this.#pack(encodeHeaderBlock(new Map()));
    this.#sender.control({ type: 'synReply', streamId, fin: false, block });
  }

  #refuse(streamId: number): void {
    this.#sender.control({ type: 'rstStream', streamId, status: resetStatus.REFUSED_STREAM });
  }

  #handleReply(frame: SpdyFrame & { readonly type: 'synReply' }): void {
    decodeHeaderBlock(this.#unpack(frame.block));
    const entry = this.#entries.get(frame.streamId);
    if (entry === undefined) return;
    if (entry.answer === undefined)
      throw new SpdyProtocolError(`a second reply for stream ${frame.streamId}`);
    entry.answer.resolve(entry.stream);
    entry.answer = undefined;
    if (frame.fin) this.#finish(frame.streamId);
  }

  #handleData(streamId: number, data: Buffer, fin: boolean): void {
    // The connection's window is always reopened: the limit is what waits in the streams.
    this.#sessionWindow.received(data.length);
    const back = this.#sessionWindow.consumed(data.length, this.#peer);
    if (back > 0) this.#sender.control({ type: 'windowUpdate', streamId: 0, delta: back });
    const entry = this.#entries.get(streamId);
    if (entry === undefined) return; // reset by us while this was under way
    if (entry.stream.remoteEnded) throw new SpdyProtocolError(`data after the end of stream ${streamId}`);
    const overrun = !entry.receiveWindow.received(data.length);
    if (overrun && this.#peer === 'unknown') this.#peer = 'ignores';
    if (overrun && this.#peer === 'heeds') {
      this.#sender.control({ type: 'rstStream', streamId, status: resetStatus.FLOW_CONTROL_ERROR });
      const error = new SpdyProtocolError('the peer sent more than the window allows');
      return this.#cutOff(entry, error, error);
    }
    this.#buffered += data.length;
    entry.stream.receive(data);
    if (this.#buffered > this.#limits.buffered) this.#pauseReading();
    if (fin) this.#finish(streamId);
  }

  #finish(streamId: number): void {
    const entry = this.#entries.get(streamId);
    if (entry === undefined) return;
    entry.stream.receiveEnd();
    if (entry.finSent) this.#remove(entry);
  }

  #handleReset(streamId: number, status: number): void {
    const entry = this.#entries.get(streamId);
    if (entry === undefined) return;
    const error = new SpdyResetError(streamId, status);
    // Servers of the field end their streams by cancelling them, so this is an end like any other (spdystream's Read agrees).
    this.#cutOff(entry, error, status === resetStatus.CANCEL ? undefined : error);
    entry.stream.emit('reset', error);
  }

  /** The peer will neither read nor write this stream any more. What it has sent before is still to be read. */
  #cutOff(entry: Entry, error: Error, readError: Error | undefined): void {
    entry.answer?.reject(error);
    entry.answer = undefined;
    this.#sender.forget(entry.stream.id, error);
    this.#remove(entry);
    entry.stream.receiveEnd(readError);
  }

  #handleSettings(entries: readonly SettingsEntry[]): void {
    this.#usesWindows();
    const initial = entries.find(({ id }) => id === settingIds.INITIAL_WINDOW_SIZE);
    if (initial === undefined) return;
    for (const { sendWindow } of this.#entries.values()) widen(sendWindow, initial.value - this.#peerWindow);
    this.#peerWindow = initial.value;
    this.#sender.pump();
  }

  #handleWindowUpdate(streamId: number, delta: number): void {
    this.#usesWindows();
    const window = streamId === 0 ? this.#sender.window : this.#entries.get(streamId)?.sendWindow;
    if (window === undefined) return;
    widen(window, delta);
    this.#sender.pump();
  }

  #usesWindows(): void {
    if (this.#peer === 'unknown') this.#peer = 'heeds';
    this.#sender.enforceWindows();
  }

  /** A ping with our own parity is the answer to one of ours. */
  #handlePing(id: number): void {
    if (id % 2 !== this.#nextId % 2) this.#sender.control({ type: 'ping', id });
  }

  #handleGoAway(lastGood: number): void {
    this.#goneAway = true;
    for (const entry of [...this.#entries.values()]) {
      if (!entry.ours || entry.stream.id <= lastGood || entry.answer === undefined) continue;
      const error = new Error('the peer is closing the connection');
      this.#cutOff(entry, error, error);
    }
    this.#endWhenIdle();
  }

  #sendGoAway(status: number): void {
    if (this.#socket.writable) {
      this.#sender.control({ type: 'goAway', lastGoodStreamId: this.#lastPeerId, status });
    }
  }

  #add(id: number, headers: SpdyHeaders, ours: boolean): Entry {
    const stream = Object.assign(new QueuedDuplex(this.#transportOf(id)), { id, headers });
    const entry: Entry = {
      stream,
      ours,
      sendWindow: { size: this.#peerWindow },
      receiveWindow: createReceiveWindow(this.#limits.window),
      finSent: false,
      answer: undefined,
    };
    this.#entries.set(id, entry);
    return entry;
  }

  #transportOf(id: number): ConstructorParameters<typeof QueuedDuplex>[0] {
    return {
      send: (chunk, done) => {
        const entry = this.#entries.get(id);
        if (entry === undefined || entry.finSent) done(new Error(`stream ${id} is closed`));
        else this.#sender.data(id, entry.sendWindow, chunk, done);
      },
      sendEnd: (done) => {
        this.#endOurHalf(id);
        done();
      },
      consumed: (bytes) => this.#consumed(id, bytes),
      destroyed: () => this.#abandon(id),
    };
  }

  #endOurHalf(id: number): void {
    const entry = this.#entries.get(id);
    if (entry === undefined || entry.finSent) return;
    entry.finSent = true;
    this.#sender.end(id);
    if (entry.stream.remoteEnded) this.#remove(entry);
  }

  #consumed(id: number, bytes: number): void {
    this.#buffered -= bytes;
    if (this.#buffered <= this.#limits.buffered / 2) this.#resumeReading();
    const entry = this.#entries.get(id);
    if (entry === undefined || entry.stream.remoteEnded || entry.stream.destroyed) return;
    const delta = entry.receiveWindow.consumed(bytes, this.#peer);
    if (delta > 0) this.#sender.control({ type: 'windowUpdate', streamId: id, delta });
  }

  #abandon(id: number): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#sender.forget(id, new Error(`stream ${id} is closed`));
    entry.answer?.reject(new Error(`stream ${id} is closed`));
    this.#sender.control({ type: 'rstStream', streamId: id, status: resetStatus.CANCEL });
    this.#remove(entry);
  }

  #remove({ stream }: Entry): void {
    this.#entries.delete(stream.id);
    if (this.#goneAway) this.#endWhenIdle();
  }

  #endWhenIdle(): void {
    if (this.#entries.size === 0) this.#socket.end();
  }

  #countTheirs(): number {
    let count = 0;
    for (const { ours } of this.#entries.values()) if (!ours) count += 1;
    return count;
  }

  /** A peer that is not read cannot be seen to go; writing to it shows that. */
  #pauseReading(): void {
    if (this.#socket.isPaused()) return;
    this.#socket.pause();
    const ping = (): void =>
      this.#sender.control({ type: 'ping', id: this.#options.role === 'client' ? 1 : 2 });
    this.#heartbeat ??= setInterval(ping, heartbeatMs).unref();
  }

  #resumeReading(): void {
    clearInterval(this.#heartbeat);
    this.#heartbeat = undefined;
    if (this.#socket.isPaused()) this.#socket.resume();
  }

  #lose(): void {
    clearInterval(this.#heartbeat);
    this.#goneAway = true;
    const error = new Error('the connection was closed');
    for (const entry of [...this.#entries.values()]) this.#cutOff(entry, error, error);
  }
}
