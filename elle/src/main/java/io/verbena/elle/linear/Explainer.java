package io.verbena.elle.linear;

import io.verbena.elle.history.Operation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Says why an object's history is not linearizable: the longest prefix that is, what cannot follow, and few operations
 * that contradict each other.
 */
final class Explainer<S>
{
    private final Model<S> model;
    private final Part whole;
    private final StateSet seen;
    private final Budget budget;
    private final int position;
    private final Operation breaking;
    private int[] prefixOrder = new int[0];
    private boolean prefixIsOrdered;
    private String stateText = "not known, a bound was hit";
    private final List<Failure.Blocked> blocked = new ArrayList<>();

    /** Explains one object, of which a search found out that it is not linearizable. */
    Explainer(final Model<S> model, final Part whole, final StateSet seen, final Budget budget)
    {
        this.model = model;
        this.whole = whole;
        this.seen = seen;
        this.budget = budget;
        this.breaking = findBreaking();
        this.position = breaking.endPosition();
        orderPrefix();
    }

    int[] prefixOrder()
    {
        return prefixOrder;
    }

    Failure failure()
    {
        if (!budget.takeExplanation())
        {
            return failure(List.of(breaking), false, false);
        }
        final CoreFinder<S> finder = new CoreFinder<>(model, whole, breaking, seen, budget);
        final List<Operation> core = finder.find();
        return failure(core, finder.suffices(), finder.isMinimal());
    }

    private Failure failure(final List<Operation> core, final boolean suffices, final boolean isMinimal)
    {
        return new Failure(
            breaking, eventsBefore(), prefixIsOrdered, stateText, blocked, core, suffices, isMinimal);
    }

    /**
     * The first completion at which the history is known to be impossible, by halving: with more of a history there
     * are never more orders. A prefix that takes too long to search counts as possible, so that each report is true.
     */
    private Operation findBreaking()
    {
        final List<Operation> ends = new ArrayList<>(whole.operations);
        ends.removeIf(operation -> operation.endPosition() == Operation.NEVER);
        ends.sort(Comparator.comparingInt(Operation::endPosition));
        int low = 0;
        int high = ends.size() - 1;
        while (low < high)
        {
            final int middle = (low + high) >>> 1;
            final Part prefix = whole.before(model, ends.get(middle).endPosition() + 1);
            final Search search = new Search(
                prefix, new StateSpace<>(model, prefix, budget), seen, budget, Long.MAX_VALUE);
            final boolean isImpossible = search.run() == Search.Result.IMPOSSIBLE;
            search.close();
            low = isImpossible ? low : middle + 1;
            high = isImpossible ? middle : high;
        }
        return ends.get(low);
    }

    private void orderPrefix()
    {
        final Part prefix = whole.before(model, position);
        final StateSpace<S> space = new StateSpace<>(model, prefix, budget);
        final Search search = new Search(prefix, space, seen, budget, Long.MAX_VALUE);
        final Search.Result result = search.run();
        search.close();
        if (result == Search.Result.FOUND)
        {
            prefixIsOrdered = true;
            prefixOrder = prefix.ids(search.order());
            final S state = space.state(search.state());
            stateText = model.describe(state);
            collectBlocked(state);
        }
    }

    private void collectBlocked(final S state)
    {
        block(state, breaking);
        for (final Operation operation : whole.operations)
        {
            final boolean isOpen = operation.callPosition() < position && operation.endPosition() > position;
            if (isOpen && operation.isOk() && !isInPrefix(operation))
            {
                block(state, operation);
            }
        }
    }

    private void block(final S state, final Operation operation)
    {
        final S next = model.step(state, operation);
        final String reason;
        if (next == null)
        {
            reason = "cannot answer so in state " + model.describe(state);
        }
        else if (operation == breaking)
        {
            reason = "could be next here, but only in an order that leaves no room for what was over before";
        }
        else
        {
            reason = "could be next, leaving " + model.describe(next) + ", but no order after that explains " +
                breaking;
        }
        blocked.add(new Failure.Blocked(operation, reason));
    }

    private boolean isInPrefix(final Operation operation)
    {
        for (final int id : prefixOrder)
        {
            if (id == operation.id())
            {
                return true;
            }
        }
        return false;
    }

    private int eventsBefore()
    {
        int events = 0;
        for (int i = 0; i < whole.length; i++)
        {
            events += whole.call[i] < position ? 1 : 0;
            events += whole.end[i] < position ? 1 : 0;
        }
        return events;
    }
}
