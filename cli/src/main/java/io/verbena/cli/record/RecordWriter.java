package io.verbena.cli.record;

import io.verbena.client.KvRecord;

import java.io.IOException;

/** Writes records; used by one thread. */
interface RecordWriter
{
    /** Writes one, and keeps nothing of it back. */
    void write(KvRecord record) throws IOException;
}
