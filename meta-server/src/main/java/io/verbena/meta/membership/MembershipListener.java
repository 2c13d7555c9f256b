package io.verbena.meta.membership;

import io.verbena.protocol.view.View;

/** Hears of changes of the set of live nodes, after they are durable. */
public interface MembershipListener
{
    /**
     * A node has a lease from now on, under a new incarnation.
     *
     * @param member live.
     */
    void onJoined(Member member);

    /**
     * Clients are sent to a compute node that was a spare.
     *
     * @param member live.
     */
    default void onActivated(final Member member)
    {
    }

    /**
     * A node has no lease any more: nobody should begin to use it.
     *
     * @param member not live.
     */
    void onEnded(Member member);

    /**
     * Epochs pass without a compute node that ended, although lost memory nodes have not cut it off: all others have
     * left these. It is fenced still.
     *
     * @param member without a lease.
     */
    default void onPassedOver(final Member member)
    {
    }

    /**
     * A compute node that ended can reach no memory node any more.
     *
     * @param member forgotten by now.
     */
    void onFenced(Member member);

    /**
     * The view of a group has changed, or a group was made.
     *
     * @param view its latest record.
     */
    default void onView(final View view)
    {
    }

    /**
     * A group stays closed, and waits for a member of it. Called again when what is known of the members has changed.
     *
     * @param why one line.
     */
    default void onStaysClosed(final String why)
    {
    }
}
