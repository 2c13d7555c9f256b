package io.verbena.raas.message;

/** The receive buffers of a context. One owner thread. */
public interface ReceiveSupply extends AutoCloseable
{
    /** For a queue pair made here: replies arrive there. */
    Receives forReplies();

    /**
     * For a queue pair accepted here: requests arrive there.
     *
     * @param wanted credits, 1 or more.
     * @return with 1 credit or more, at most those wanted; null when all are given.
     */
    Receives forRequests(int wanted);

    /** What is to be said when {@link #forRequests} has none. */
    String noRoom();

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

    /** Most buffers; 0 when each queue pair has its own. */
    int capacity();

    @Override
    void close();
}
