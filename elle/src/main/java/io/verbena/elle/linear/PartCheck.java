package io.verbena.elle.linear;

import io.verbena.elle.history.Operation;
import io.verbena.elle.Validity;

import java.util.List;

/**
 * Checks the operations of one object. Used by one thread at a time, for one object after the other.
 */
final class PartCheck<S>
{
    private final Model<S> model;
    private final Budget budget;
    private final StateSet seen;

    PartCheck(final Model<S> model, final Budget budget)
    {
        this.model = model;
        this.budget = budget;
        this.seen = new StateSet(budget);
    }

    PartVerdict check(final Object object, final List<Operation> operations)
    {
        final Part part = Part.of(model, operations);
        final StateSpace<S> space = new StateSpace<>(model, part, budget);
        final Search search = new Search(part, space, seen, budget, Long.MAX_VALUE);
        final Search.Result result = search.run();
        search.close();
        return switch (result)
        {
            case FOUND -> new PartVerdict(
                object, Validity.VALID, part.length, part.ids(search.order()), search.visited(), null, null);
            case IMPOSSIBLE -> explain(object, part, search);
            case OUT_OF_TIME -> unknown(object, part, search, "the time was up");
            case OUT_OF_MEMORY -> unknown(object, part, search, "the bound on remembered states was hit");
            case OUT_OF_STEPS -> throw new AssertionError("a search without a bound on steps hit it");
        };
    }

    private PartVerdict explain(final Object object, final Part part, final Search search)
    {
        final Explainer<S> explainer = new Explainer<>(model, part, seen, budget);
        return new PartVerdict(object, Validity.INVALID, part.length, explainer.prefixOrder(), search.visited(),
            explainer.failure(), null);
    }

    private static PartVerdict unknown(
        final Object object, final Part part, final Search search, final String reason)
    {
        return new PartVerdict(object, Validity.UNKNOWN, part.length, new int[0], search.visited(), null,
            reason + " after " + search.visited() + " configurations");
    }
}
