package io.verbena.meta.membership;

import java.util.HashMap;
import java.util.Map;

/** Counts what happens in a model, what its membership reports besides. */
final class ModelEvents implements MembershipListener
{
    private final Map<String, Integer> counts = new HashMap<>();

    void count(final String event)
    {
        counts.merge(event, 1, Integer::sum);
    }

    /** @return how often each kind of event happened. */
    Map<String, Integer> counts()
    {
        return counts;
    }

    @Override
    public void onJoined(final Member member)
    {
        count("joined " + member.node().role());
    }

    @Override
    public void onEnded(final Member member)
    {
        count("ended " + member.node().state());
    }

    @Override
    public void onPassedOver(final Member member)
    {
        count("passed over");
    }

    @Override
    public void onFenced(final Member member)
    {
        count("fenced");
    }
}
