package io.verbena.load.ycsb;

/**
 * Receives each access of one {@link VerbenaDb} to a record. Called by the thread that uses the binding, before the
 * call of the binding returns: a start before anything is sent, an end after the last answer. An update reads within
 * its write. At most one read and one write of a binding are open at a time, and each that started ends.
 */
public interface RecordListener
{
    /** What is known of a write. */
    enum Outcome
    {
        /** It took effect within the call. */
        ACKNOWLEDGED,
        /** It did not take effect and never will. */
        NOT_APPLIED,
        /** It may have taken effect, or may still. */
        UNKNOWN
    }

    /** Ignores everything. */
    RecordListener NONE = new RecordListener()
    {
        @Override
        public void onReadStart(final String key)
        {
        }

        @Override
        public void onReadEnd(final byte[] record)
        {
        }

        @Override
        public void onWriteStart(final String key, final long sequence)
        {
        }

        @Override
        public void onWriteEnd(final String key, final long sequence, final Outcome outcome)
        {
        }
    };

    /**
     * A get is about to be sent.
     *
     * @param key of the record.
     */
    void onReadStart(String key);

    /**
     * The get has ended.
     *
     * @param record the value as it was stored, not to be changed; null if there was none, or the get failed.
     */
    void onReadEnd(byte[] record);

    /**
     * A write is about to be sent for the first time.
     *
     * @param key      of the record.
     * @param sequence stamped on it.
     */
    void onWriteStart(String key, long sequence);

    /**
     * The write has ended.
     *
     * @param key      of the record.
     * @param sequence stamped on it.
     * @param outcome  what is known.
     */
    void onWriteEnd(String key, long sequence, Outcome outcome);
}
