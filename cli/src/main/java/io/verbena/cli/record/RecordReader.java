package io.verbena.cli.record;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.client.KvRecord;

import java.io.IOException;

/** Reads records; used by one thread. */
interface RecordReader
{
    /**
     * Reads the next one.
     *
     * @return it, without a version; or null at the end.
     * @throws CommandFailedException that names the line, when it is none.
     */
    KvRecord next() throws IOException;

    /** @return the line read last, from 1. */
    long line();
}
