package io.verbena.elle.txn;

/** From what it is known that one version of a register comes before another. */
enum VersionSource
{
    INITIAL_STATE("the initial state comes before everything"),
    WRITES_FOLLOW_READS("a transaction read the first and then wrote the second"),
    SEQUENTIAL_KEYS("a process met them in this order"),
    LINEARIZABLE_KEYS("they were met in this order in real time");

    private final String reason;

    VersionSource(final String reason)
    {
        this.reason = reason;
    }

    String reason()
    {
        return reason;
    }

    int bit()
    {
        return 1 << ordinal();
    }

    boolean isAssumed(final TxnOptions options)
    {
        return switch (this)
        {
            case INITIAL_STATE -> true;
            case WRITES_FOLLOW_READS -> options.writesFollowReads();
            case SEQUENTIAL_KEYS -> options.sequentialKeys();
            case LINEARIZABLE_KEYS -> options.linearizableKeys();
        };
    }
}
