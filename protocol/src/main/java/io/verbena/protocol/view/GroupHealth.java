package io.verbena.protocol.view;

import io.verbena.raas.identity.PeerIdentity;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What is wrong with a group of memory nodes, for people. Stateless. */
public final class GroupHealth
{
    private GroupHealth()
    {
    }

    /**
     * Of a group that has ended a view, it is taken that it has lost members: the record of a view does not say how
     * many the group was made with.
     *
     * @param view  the latest one of a group.
     * @param fills how far memory nodes are filled, as far as is known.
     * @return one line: what, why, and what to do; empty when all is well.
     */
    public static String problem(final View view, final List<FillProgress> fills)
    {
        final String group = "group " + view.group() + ": ";
        final List<PeerIdentity> survivors = view.survivors();
        if (view.isDeserted())
        {
            return group + "all its memory nodes are lost: " + ids(view.members()) +
                "; reads and writes of its tables fail: start these memory nodes again";
        }
        return switch (view.state())
        {
            case ACTIVE -> view.isFilling() ? group + "records have " + copies(survivors) + " instead of " +
                (0 == view.copies() ? survivors.size() + 1 : view.copies()) + ": memory node " +
                view.entering().nodeId() + " gets a copy beside the work" + progress(view, fills) :
                view.lacksMember() ? group + "records have " + copies(survivors) + " instead of " +
                view.copies() + ": 'verbena node fill ID' copies them to another memory node" :
                0 == view.copies() && view.number() > 1 ? group + "records have " + copies(survivors) +
                "; with how many its tables were made is not known" : "";
            case CLOSING -> group + lost(view) + "; operations on its tables wait until view " + view.number() +
                " is closed at memory node " + ids(survivors) + ", and left by all compute nodes, a lease at most";
            case RECONCILING -> group + lost(view) + "; operations on its tables wait until " +
                (PeerIdentity.UNREGISTERED.equals(view.reconciler()) ? "there is a compute node to make" :
                "compute node " + view.reconciler().nodeId() + " has made") + " the copies of memory node " +
                ids(survivors) + " equal";
        };
    }

    /**
     * @param views the latest ones of groups.
     * @param fills how far memory nodes are filled, as far as is known.
     * @return what is wrong, a line for each group; those that lack the same for the same reason share a line.
     */
    public static List<String> problems(final List<View> views, final List<FillProgress> fills)
    {
        final Map<String, List<Integer>> groups = new TreeMap<>();
        for (final View view : views)
        {
            final String problem = problem(view, fills);
            if (!problem.isEmpty())
            {
                groups.computeIfAbsent(problem.substring(problem.indexOf(':')), (_) -> new ArrayList<>())
                    .add(view.group());
            }
        }
        final List<String> lines = new ArrayList<>();
        groups.forEach((problem, numbers) -> lines.add((1 == numbers.size() ? "group " : "groups ") +
            numbers.stream().map(String::valueOf).collect(Collectors.joining(", ")) + problem));
        return lines;
    }

    private static String progress(final View view, final List<FillProgress> fills)
    {
        return fills.stream().filter((fill) -> fill.attempt().equals(ViewAttempt.of(view))).findFirst()
            .map((fill) -> "; " + text(fill)).orElse("");
    }

    /**
     * @param fill how far a memory node is filled.
     * @return what is done now, how much of it, and how long it takes still.
     */
    public static String text(final FillProgress fill)
    {
        final boolean isCopying = fill.differingBytes() > 0;
        return "pass " + fill.pass() + (isCopying ?
            ": " + mib(fill.copiedBytes()) + " of " + mib(fill.differingBytes()) + " MiB copied" :
            ": " + mib(fill.comparedBytes()) + " of " + mib(fill.totalBytes()) + " MiB compared") +
            (FillProgress.UNKNOWN == fill.secondsLeft() ? "" : ", " + fill.secondsLeft() + " s left");
    }

    private static String mib(final long bytes)
    {
        return String.format(Locale.ROOT, "%,d", Math.ceilDiv(bytes, 1 << 20));
    }

    private static String copies(final List<PeerIdentity> survivors)
    {
        return (1 == survivors.size() ? "1 copy" : survivors.size() + " copies") + ", at memory node " +
            ids(survivors);
    }

    private static String lost(final View view)
    {
        final List<PeerIdentity> lost = new ArrayList<>(view.members());
        lost.removeAll(view.survivors());
        return view.hasEntering() ? "memory node " + view.entering().nodeId() + " gets a copy" :
            lost.isEmpty() ? "a memory node was away" :
            "memory node " + ids(lost) + (1 == lost.size() ? " is lost" : " are lost");
    }

    private static String ids(final List<PeerIdentity> members)
    {
        return members.stream().map((member) -> Integer.toString(member.nodeId())).collect(Collectors.joining(", "));
    }
}
