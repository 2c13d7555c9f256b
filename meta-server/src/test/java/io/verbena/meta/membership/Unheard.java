package io.verbena.meta.membership;

/** Hears of members, and does nothing. */
public class Unheard implements MembershipListener
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
