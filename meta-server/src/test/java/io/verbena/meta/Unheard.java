package io.verbena.meta;

import io.verbena.meta.membership.Member;
import io.verbena.meta.membership.MembershipListener;

/** Hears of members, and does nothing. */
final class Unheard implements MembershipListener
{
    @Override
    public void onJoined(final Member member)
    {
        // Nobody asks.
    }

    @Override
    public void onEnded(final Member member)
    {
        // Nobody asks.
    }

    @Override
    public void onFenced(final Member member)
    {
        // Nobody asks.
    }
}
