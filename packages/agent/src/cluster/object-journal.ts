/** The facts of objects as this node has last seen them, for an agent that starts while the store is away. */
import { type Journal, openJournal } from '@podwire/planner';
import type { Log } from '@podwire/platform';
import { z } from 'zod';
import type { SavedFact } from './object-facts.js';
import { journalFile, type StateFiles } from './state-files.js';

const fileName = 'objects.jsonl';

/** A fact; only its name when the object was deleted. */
const line = z.union([z.object({ name: z.string(), value: z.json() }), z.object({ gone: z.string() })]);

/** @throws PodwireError RECORD_IO when it cannot be read */
export const openObjectJournal = (files: StateFiles, log: Log): Journal<SavedFact> =>
  openJournal<SavedFact>({
    file: journalFile(files, fileName),
    parse(data) {
      const read = line.safeParse(data).data;
      if (read === undefined) return undefined;
      return 'gone' in read ? { name: read.gone } : { name: read.name, value: read };
    },
    failure: 'objects could not be written down; an agent that restarts without the store forgets them',
    log,
  });
