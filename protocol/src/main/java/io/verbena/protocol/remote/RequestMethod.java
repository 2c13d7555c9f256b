package io.verbena.protocol.remote;

/** Numbers of the methods in messages to compute nodes; they differ from those of other servers. */
final class RequestMethod
{
    /** One operation on one record. */
    static final int OPERATION = 201;
    /** A part of an operation's key and value, sent before it. */
    static final int PART = 202;
    /** Asks for a part of a value that did not fit into a reply. */
    static final int FETCH = 203;
    /** A request about tables. */
    static final int CONTROL = 204;

    /** Figures of the node, for tools. */
    static final int FIGURES = 205;

    private RequestMethod()
    {
    }
}
