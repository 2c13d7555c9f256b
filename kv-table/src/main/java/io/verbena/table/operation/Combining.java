package io.verbena.table.operation;

/** What an operation is to others of its key at its engine; see {@link Combiner}, which alone writes it. */
final class Combining
{
    /** Runs for its key at this engine. */
    boolean leads;
    /** Leads the batch that this one is a member of; null while it waits or leads. */
    Operation leader;
    /** Behind this one among the members or the waiters of a leader. */
    Operation next;
    Operation nextLeader;
    Operation firstMember;
    Operation firstWaiter;
    Operation lastWaiter;
    /** INCREMENT, APPEND: it is left out of its batch, the sum or the value would not fit. */
    boolean overflows;
    /** How many had waited when it began to wait, or to lead: who leads answers none of those that came later. */
    long turn;
    /** What has become of a leader, as far as that is certain; one of {@link OperationResult}. */
    int fate;

    void reset()
    {
        leads = false;
        leader = null;
        next = null;
        nextLeader = null;
        firstMember = null;
        firstWaiter = null;
        lastWaiter = null;
        overflows = false;
        turn = 0;
        fate = OperationResult.OUTCOME_UNKNOWN;
    }
}
