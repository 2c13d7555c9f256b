package io.verbena.load.wire;

/** What answers packets at the other side of the wire. One thread. */
interface WireResponder
{
    /** Does what there is to do; returns whether there was something. */
    boolean work();

    /** What the requester must know, in one line. */
    String greeting();

    /** Connects to what the words behind the first name. */
    void connect(String[] words);
}
