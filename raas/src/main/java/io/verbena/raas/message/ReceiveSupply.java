package io.verbena.raas.message;

import io.verbena.raas.limit.RaasLimit;

import java.util.List;

/** The receive buffers of a context. One owner thread. */
public interface ReceiveSupply extends AutoCloseable
{
    /** For a queue pair made here: replies arrive there. */
    Receives forReplies();

    /**
     * For a queue pair accepted here: requests arrive there.
     *
     * @param wanted credits, 1 or more.
     * @return with 1 credit or more, at most those wanted; null when all are given, as {@link #addLimit} says.
     */
    Receives forRequests(int wanted);

    /** Completions of receives that each queue pair may have in the completion queue, beyond those of all together. */
    int completionsOfEach();

    /** Completions of receives that all queue pairs together may have in the completion queue. */
    int completionsOfAll();

    /** A receive completed for nobody: its queue pair is closed. */
    void giveBack(int slot);

    /** Posts what channels that were closed had held. */
    void poll();

    /** Buffers made, posted or not. */
    int buffers();

    /** Adds what is used of the receives that all share, where they do. */
    void addLimit(List<RaasLimit> limits);

    @Override
    void close();
}
