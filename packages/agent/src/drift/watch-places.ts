/** Listens to the places in which others may change something, each by itself. */
import type { ChangeFeed, Changes, Place } from '@podwire/engine';
import { groupBy } from '@podwire/platform';
import { DriftWatch, type DriftWatchOptions } from './drift-watch.js';
import { OwnerIndex } from './owner-index.js';

export interface WatchOptions extends Omit<DriftWatchOptions, 'owners'> {
  readonly signal: AbortSignal;
}

/** A place that cannot be listened to is one in which drift is found in rounds. Resolves when the signal aborts. */
export async function watchDrift(feeds: readonly ChangeFeed[], options: WatchOptions): Promise<void> {
  if (feeds.length === 0) return;
  const owners = new OwnerIndex(options.context);
  const places = [...groupBy(feeds, ({ place }) => place)];
  await Promise.all(
    places.map(async ([place, ofPlace]) => {
      const opened = openAll(place, ofPlace, options);
      if (opened.length > 0) await new DriftWatch(place, opened, { ...options, owners }).run(options.signal);
    }),
  );
}

/** All or none: half of a place would look like all of it. */
function openAll(place: Place, feeds: readonly ChangeFeed[], { context }: WatchOptions): Changes[] {
  const opened: Changes[] = [];
  try {
    for (const feed of feeds) opened.push(feed.open());
    return opened;
  } catch (err) {
    for (const changes of opened) changes.close();
    context.log.warn(
      { err, place },
      'changes cannot be listened to: drift in this place is found in rounds only',
    );
    return [];
  }
}
