package io.verbena.memory;

import io.verbena.meta.membership.Member;
import io.verbena.meta.membership.MembershipListener;

/** Nobody listens. */
final class UnheardMembership implements MembershipListener
{
    @Override
    public void onJoined(final Member member)
    {
    }

    @Override
    public void onEnded(final Member member)
    {
    }

    @Override
    public void onFenced(final Member member)
    {
    }
}
