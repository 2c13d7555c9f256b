package io.verbena.elle.linear;

import io.verbena.elle.history.Operation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Finds a few operations of a history that contradict each other by themselves.
 *
 * <p>It forgets what was seen of some operations, many at first and in the end of single ones, as long as the rest is
 * still impossible. Forgetting only takes demands away: what remains is a contradiction whatever was forgotten.
 */
final class CoreFinder<S>
{
    /** When the work is bounded by its first limit, only so many operations that were over last are looked at. */
    private static final int WINDOW = 32;
    private static final long MAX_TRIAL_STEPS = 2_000;
    private static final long MAX_STEPS = 100_000;
    /** Preparing a search costs less than searching, but not nothing: so many operations count as a step. */
    private static final int OPERATIONS_PER_STEP = 16;

    private final Model<S> model;
    private final StateSet seen;
    private final Budget budget;
    private final Operation breaking;
    private List<Operation> kept;
    private List<Operation> candidates;
    private long steps;
    private boolean suffices = true;
    private boolean isMinimal = true;

    CoreFinder(
        final Model<S> model, final Part whole, final Operation breaking, final StateSet seen, final Budget budget)
    {
        this.model = model;
        this.seen = seen;
        this.budget = budget;
        this.breaking = breaking;
        this.kept = whole.before(model, breaking.endPosition() + 1).operations;
        this.candidates = new ArrayList<>();
        for (final Operation operation : kept)
        {
            if (operation.endPosition() < breaking.endPosition())
            {
                candidates.add(operation);
            }
        }
        candidates.sort(Comparator.comparingInt(Operation::endPosition));
    }

    /** The operations, in call order. */
    List<Operation> find()
    {
        if (!forget(MAX_STEPS) && candidates.size() > WINDOW)
        {
            suffices = false;
            isMinimal = false;
            candidates = new ArrayList<>(candidates.subList(candidates.size() - WINDOW, candidates.size()));
            forget(2 * MAX_STEPS);
        }
        final List<Operation> core = new ArrayList<>(candidates);
        core.add(breaking);
        core.sort(Comparator.comparingInt(Operation::callPosition));
        return core;
    }

    /** Whether what was found is a contradiction without anything else. */
    boolean suffices()
    {
        return suffices;
    }

    /** Whether, beyond that, each operation found is known to be needed. */
    boolean isMinimal()
    {
        return isMinimal;
    }

    /** False if the bound was hit before all was tried. */
    private boolean forget(final long maxSteps)
    {
        for (int chunk = candidates.size(); chunk >= 1; chunk /= 2)
        {
            for (int from = 0; from < candidates.size();)
            {
                if (steps > maxSteps || budget.isTimeUp())
                {
                    isMinimal = false;
                    return false;
                }
                final List<Operation> some = candidates.subList(from, Math.min(from + chunk, candidates.size()));
                final List<Operation> trial = without(some);
                if (isImpossible(trial))
                {
                    kept = trial;
                    some.clear();
                }
                else
                {
                    from += chunk;
                }
            }
        }
        return true;
    }

    private boolean isImpossible(final List<Operation> trial)
    {
        final Part part = Part.of(model, trial);
        final StateSpace<S> space = new StateSpace<>(model, part, budget);
        final Search search = new Search(part, space, seen, budget, MAX_TRIAL_STEPS + 2L * part.length);
        final Search.Result result = search.run();
        search.close();
        steps += search.visited() + trial.size() / OPERATIONS_PER_STEP;
        isMinimal &= result == Search.Result.FOUND || result == Search.Result.IMPOSSIBLE;
        return result == Search.Result.IMPOSSIBLE;
    }

    /** What is kept, with some turned into operations that nobody saw the end of. */
    private List<Operation> without(final List<Operation> some)
    {
        final Set<Integer> ids = new HashSet<>();
        some.forEach(operation -> ids.add(operation.id()));
        final List<Operation> result = new ArrayList<>(kept.size());
        for (final Operation operation : kept)
        {
            result.add(ids.contains(operation.id()) ? Part.unseen(operation) : operation);
        }
        return result;
    }
}
