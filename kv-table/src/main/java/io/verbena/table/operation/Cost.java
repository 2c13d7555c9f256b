package io.verbena.table.operation;

/** What an operation has cost; staged is what costs only once it is posted. */
final class Cost
{
    int stagedVerbs;
    int stagedExtraRoundTrips;
    int verbs;
    int doorbells;
    int roundTrips;
    int retries;
    /** Retries because of others. */
    int contentions;

    void reset()
    {
        verbs = 0;
        doorbells = 0;
        roundTrips = 0;
        retries = 0;
        contentions = 0;
    }
}
