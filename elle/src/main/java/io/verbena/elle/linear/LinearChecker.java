package io.verbena.elle.linear;

import io.verbena.elle.history.History;
import io.verbena.elle.history.HistoryException;
import io.verbena.elle.history.Operation;
import io.verbena.elle.Validity;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * Checks whether a history is linearizable: splits it by object and checks objects side by side.
 *
 * @param <S> state of the model.
 */
public final class LinearChecker<S>
{
    private final Model<S> model;
    private final LinearOptions options;

    /**
     * Makes a checker, which may check any number of histories, also at the same time.
     *
     * @param model   of the object.
     * @param options bounds of each check.
     */
    public LinearChecker(final Model<S> model, final LinearOptions options)
    {
        this.model = model;
        this.options = options;
    }

    /**
     * Checks a history; blocks until the verdict or the time bound.
     *
     * @param history any well-formed one.
     * @return the verdict with its reasons.
     * @throws HistoryException if the history has a function or a value that the model does not know.
     */
    public LinearVerdict check(final History history)
    {
        final long startNs = options.clock().getAsLong();
        checkFunctions(history);
        final Budget budget = new Budget(options.clock(), options.timeoutNs(), options.maxStates());
        final List<Map.Entry<Object, List<Operation>>> objects = split(history);
        final PartVerdict[] verdicts = new PartVerdict[objects.size()];
        runAll(objects, verdicts, budget, history.source());

        // Any store at all could have a history in which nothing succeeded: finding no fault in it shows nothing.
        Validity validity =
            history.operations().stream().anyMatch(Operation::isOk) ? Validity.VALID : Validity.UNKNOWN;
        long visited = 0;
        for (final PartVerdict verdict : verdicts)
        {
            validity = validity.and(verdict.validity());
            visited += verdict.statesVisited();
        }
        return new LinearVerdict(validity, model.name(), history.source(), history.operations().size(),
            List.of(verdicts), visited, options.clock().getAsLong() - startNs);
    }

    private void checkFunctions(final History history)
    {
        for (final Operation operation : history.operations())
        {
            if (!model.functions().contains(operation.f()))
            {
                throw new HistoryException(history.source(), operation.callLine(), "model " + model.name() +
                    " has no function " + operation.f() + ": it knows " + String.join(", ",
                        model.functions().stream().sorted().toList()));
            }
        }
    }

    private List<Map.Entry<Object, List<Operation>>> split(final History history)
    {
        final Function<Operation, Object> object = model.partition(history);
        final Map<Object, List<Operation>> parts = new LinkedHashMap<>();
        for (final Operation operation : history.operations())
        {
            parts.computeIfAbsent(object.apply(operation), key -> new ArrayList<>()).add(operation);
        }
        return new ArrayList<>(parts.entrySet());
    }

    private void runAll(
        final List<Map.Entry<Object, List<Operation>>> objects,
        final PartVerdict[] verdicts,
        final Budget budget,
        final String source)
    {
        // Small objects first: if one is too hard for the bounds, the others have been checked by then.
        final int[] bySize = IntStream.range(0, verdicts.length).boxed()
            .sorted(Comparator.comparingInt(i -> objects.get(i).getValue().size())).mapToInt(i -> i).toArray();
        final AtomicInteger nextObject = new AtomicInteger();
        final AtomicReference<Throwable> thrown = new AtomicReference<>();
        final Runnable work = () ->
        {
            final PartCheck<S> check = new PartCheck<>(model, budget);
            int i = nextObject.getAndIncrement();
            while (i < bySize.length && thrown.get() == null)
            {
                final Map.Entry<Object, List<Operation>> object = objects.get(bySize[i]);
                verdicts[bySize[i]] = check.check(object.getKey(), object.getValue());
                i = nextObject.getAndIncrement();
            }
        };
        final List<Thread> threads = new ArrayList<>();
        for (int i = 1; i < Math.min(options.threads(), objects.size()); i++)
        {
            threads.add(Thread.ofPlatform().daemon().name("elle-linear-" + i).start(guarded(work, thrown)));
        }
        guarded(work, thrown).run();
        threads.forEach(LinearChecker::join);
        rethrow(thrown.get(), source);
    }

    private static Runnable guarded(final Runnable work, final AtomicReference<Throwable> thrown)
    {
        return () ->
        {
            try
            {
                work.run();
            }
            catch (final RuntimeException | Error ex)
            {
                thrown.compareAndSet(null, ex);
            }
        };
    }

    private static void join(final Thread thread)
    {
        boolean interrupted = false;
        while (thread.isAlive())
        {
            try
            {
                thread.join();
            }
            catch (final InterruptedException ex)
            {
                // The threads end by themselves at the time bound; the caller learns of the interrupt afterwards.
                interrupted = true;
            }
        }
        if (interrupted)
        {
            Thread.currentThread().interrupt();
        }
    }

    private static void rethrow(final Throwable thrown, final String source)
    {
        if (thrown instanceof BadValueException ex)
        {
            throw new HistoryException(source, ex.line(), ex.getMessage());
        }
        if (thrown instanceof RuntimeException ex)
        {
            throw ex;
        }
        if (thrown instanceof Error ex)
        {
            throw ex;
        }
    }
}
