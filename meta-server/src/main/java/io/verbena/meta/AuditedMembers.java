package io.verbena.meta;

import io.verbena.meta.membership.Member;
import io.verbena.meta.membership.MembershipListener;
import io.verbena.protocol.view.View;

import java.util.Locale;

/** Passes changes of the membership on, and has them recorded. One thread. */
final class AuditedMembers implements MembershipListener
{
    /** Event of a request or connection that was refused. */
    static final String REFUSED = "refused";
    private final MembershipListener next;
    private final MetaAudit audit;

    AuditedMembers(final MembershipListener next, final MetaAudit audit)
    {
        this.next = next;
        this.audit = audit;
    }

    @Override
    public void onJoined(final Member member)
    {
        next.onJoined(member);
        audit.record("joined", "", text(member));
    }

    @Override
    public void onActivated(final Member member)
    {
        next.onActivated(member);
        audit.record("activated", "", text(member));
    }

    @Override
    public void onEnded(final Member member)
    {
        next.onEnded(member);
        audit.record("ended", "", text(member) + ", " + member.node().state().name().toLowerCase(Locale.ROOT));
    }

    @Override
    public void onPassedOver(final Member member)
    {
        next.onPassedOver(member);
    }

    @Override
    public void onFenced(final Member member)
    {
        next.onFenced(member);
        audit.record("fenced", "", text(member));
    }

    @Override
    public void onView(final View view)
    {
        next.onView(view);
    }

    @Override
    public void onStaysClosed(final String why)
    {
        next.onStaysClosed(why);
    }

    private static String text(final Member member)
    {
        return (member.isCompute() ? "compute" : "memory") + " node " + member.nodeId() + " incarnation " +
            member.incarnation();
    }
}
