package io.verbena.embedded;

/** A compute node of an embedded cluster. Thread-safe; stays readable after the node has left. */
public interface ComputeNodeHandle
{
    /** @return id, 1 to 65,535, of its present registration: another one after it lost its lease and joined again. */
    int nodeId();

    /** @return incarnation of its present registration, unique in the cluster for ever. */
    int incarnation();

    /** @return true while it is a member that takes operations. */
    boolean isServing();

    /** @return nanoseconds from the start of its creation (device not open yet) until it could serve. */
    long joinToReadyNs();

    /** @return nanoseconds from the start of its creation until its first operation was answered; -1 before that. */
    long joinToFirstRequestNs();

    /** @return where {@link #joinToReadyNs()} went, one line: device, registration, lookups, connections, tables. */
    String joinBreakdown();

    /** @return operations it has answered so far. */
    long operationCount();
}
