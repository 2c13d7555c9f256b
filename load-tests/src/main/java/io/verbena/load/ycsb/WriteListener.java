package io.verbena.load.ycsb;

/**
 * Hears of each insert and update of one {@link VerbenaDb}: what it stamped and what became of it. Called by the
 * thread that uses the binding, before the call returns.
 */
public interface WriteListener
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

    /** Hears nothing. */
    WriteListener NONE = new WriteListener()
    {
        @Override
        public void onWriteStart()
        {
        }

        @Override
        public void onWriteEnd(final String key, final long sequence, final Outcome outcome)
        {
        }
    };

    /** A write is about to be sent for the first time. */
    void onWriteStart();

    /**
     * The write has ended.
     *
     * @param key      of the record.
     * @param sequence stamped on it.
     * @param outcome  what is known.
     */
    void onWriteEnd(String key, long sequence, Outcome outcome);
}
