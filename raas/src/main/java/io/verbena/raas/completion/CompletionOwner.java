package io.verbena.raas.completion;

/** A physical queue pair, as the {@link CompletionDispatcher} knows it. */
public interface CompletionOwner
{
    int queuePairNumber();

    /** A signalled request completed with success. */
    void onSendComplete(long wrId);

    /** A message arrived in a receive slot. */
    void onReceive(int slot, int lengthBytes, int immediate);

    boolean hasOutstandingSends();

    /** The queue pair broke, or the peer broke the rules: closes it and tells everybody concerned, once. */
    void breakDown(int status, String reason);
}
