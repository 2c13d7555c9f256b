package io.verbena.table.operation;

import io.verbena.table.allocation.ChunkSource;
import io.verbena.table.directory.GrowthSource;
import org.agrona.concurrent.EpochClock;

/** What point operations take of an engine's settings; each is explained where it is set. */
public interface OperationSettings
{
    /** @return number that makes this engine's versions unique. */
    int writerNumber();

    /** @return who writes, as noted in blocks. */
    int clientId();

    /** @return milliseconds since 1970, by which deadlines of records pass. */
    EpochClock expiryClock();

    /** @return longest first pause after contention. */
    long backoffMinNs();

    /** @return longest pause after any amount of contention. */
    long backoffMaxNs();

    /** @return seed of pauses. */
    long seed();

    /** @return whether writers of one key wait for each other, and back off. */
    boolean controlsContention();

    /** @return whether an operation whose connection is lost is repeated by itself. */
    boolean repeatsLostOutcomes();

    /** @return who hears of operations that ended. */
    OperationListener operationListener();

    /** @return who leases memory for blocks. */
    ChunkSource chunkSource();

    /** @return who splits subtables. */
    GrowthSource growthSource();
}
