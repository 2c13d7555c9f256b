package io.verbena.elle.linear;

import io.verbena.elle.Validity;
import io.verbena.elle.history.EventType;
import io.verbena.elle.history.Operation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The checker against the definition: on every history up to a size, over an alphabet of each model's operations, and
 * on random longer ones: 5,000 of each model, or {@code -Dverbena.elle.histories=N}.
 */
class ExhaustiveTest
{
    private static final int RANDOM_HISTORIES = Integer.getInteger("verbena.elle.histories", 5_000);
    private static final int MAX_RANDOM_LENGTH = 6;

    static Stream<Arguments> models()
    {
        return Stream.of(
            Arguments.of(Models.register(), Alphabet.register(), 4),
            Arguments.of(Models.casRegister(), Alphabet.casRegister(), 3),
            Arguments.of(Models.kvMap(), Alphabet.kvMap(), 3),
            Arguments.of(Models.kvMap(), Alphabet.appends(), 3),
            Arguments.of(Models.versionedKvMap(), Alphabet.versionedKvMap(), 3),
            Arguments.of(Models.versionedKvMap(), Alphabet.versionedGrowth(), 3),
            Arguments.of(Models.set(), Alphabet.set(), 3),
            Arguments.of(Models.counter(), Alphabet.counter(), 3),
            Arguments.of(Models.queue(), Alphabet.queue(), 4),
            Arguments.of(Models.mutex(), Alphabet.mutex(), 4));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("models")
    void shouldAgreeWithDefinitionOnAllSmallHistories(
        final Model<?> model, final Alphabet alphabet, final int maxLength)
    {
        final int[] counts = new int[2];
        for (int length = 1; length <= maxLength; length++)
        {
            for (final int[][] intervals : shapes(length))
            {
                final int[] letters = new int[length];
                do
                {
                    compare(model, history(alphabet, letters, intervals), counts);
                }
                while (next(letters, alphabet.length()));
            }
        }
        System.out.println(model.name() + ": " + counts[0] + " linearizable, " + counts[1] + " not");
        assertThat(counts[0]).isPositive();
        assertThat(counts[1]).isPositive();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("models")
    void shouldAgreeWithDefinitionOnRandomLongerHistories(
        final Model<?> model, final Alphabet alphabet, final int maxLength)
    {
        final long seed = Long.getLong("verbena.elle.seed", 20261121L);
        final SplittableRandom random = new SplittableRandom(seed);
        final int[] counts = new int[2];
        for (int i = 0; i < RANDOM_HISTORIES; i++)
        {
            final int length = random.nextInt(maxLength + 1, MAX_RANDOM_LENGTH + 2);
            final int[] letters = random.ints(length, 0, alphabet.length()).toArray();
            compare(model, history(alphabet, letters, randomShape(random, length)), counts);
        }
        System.out.println(model.name() + ", seed " + seed + ": " + counts[0] + " linearizable, " + counts[1]);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("models")
    void shouldKeepPromisesOfOverwritingModels(final Model<?> model, final Alphabet alphabet, final int maxLength)
    {
        if (model instanceof Overwriting<?> overwriting)
        {
            checkPromises(overwriting, alphabet, maxLength);
        }
    }

    private static <S> void checkPromises(
        final Overwriting<S> model, final Alphabet alphabet, final int maxLength)
    {
        final Set<S> states = new LinkedHashSet<>(Set.of(model.initial()));
        for (int round = 0; round < maxLength; round++)
        {
            for (final S state : List.copyOf(states))
            {
                for (int letter = 0; letter < alphabet.length(); letter++)
                {
                    final Operation operation = alphabet.operation(letter, 0, 0, 1);
                    final S next = model.step(state, operation);
                    assertThat(next != null || model instanceof VersionedModel || !model.isIndifferent(operation))
                        .as("%s in %s", operation, state).isTrue();
                    if (next != null)
                    {
                        checkStep(model, state, operation, next);
                        states.add(next);
                    }
                }
            }
        }
        assertThat(states).hasSizeGreaterThan(2);
    }

    private static <S> void checkStep(
        final Overwriting<S> model, final S state, final Operation operation, final S next)
    {
        final Object needed = model.needs(operation);
        if (needed != null && (operation.isOk() || !next.equals(state)))
        {
            assertThat(model.holds(state)).as("%s in %s", operation, state).isEqualTo(needed);
        }
        if (!next.equals(state) && !model.isReadOnly(operation) && model.makes(operation) == null)
        {
            assertThat(model.canBecome(model.holds(state), model.holds(next))).isTrue();
        }
        final Object product = model.isReadOnly(operation) ? model.holds(state) : model.makes(operation);
        if (product != null && !next.equals(state))
        {
            assertThat(model.holds(next)).as("%s in %s", operation, state).isEqualTo(product);
        }
    }

    private static <S> void compare(final Model<S> model, final List<Operation> operations, final int[] counts)
    {
        final boolean isGood = BruteForce.isLinearizable(model, operations);
        final Budget budget = new Budget(() -> 0, 1, 1 << 20);
        final PartVerdict verdict = new PartCheck<>(model, budget).check(null, operations);
        counts[isGood ? 0 : 1]++;
        final Validity expected = isGood ? Validity.VALID : Validity.INVALID;
        if (verdict.validity() != expected)
        {
            throw new AssertionError("should be " + expected + ": " + operations);
        }
        if (isGood)
        {
            checkOrder(model, verdict.linearization(), operations);
        }
        else
        {
            checkFailure(model, verdict, operations);
        }
    }

    /** The order respects real time, the model allows it, and all that is known to have happened is in it. */
    private static <S> void checkOrder(final Model<S> model, final int[] order, final List<Operation> operations)
    {
        final Map<Integer, Operation> left = new HashMap<>();
        operations.forEach(operation -> left.put(operation.id(), operation));
        S state = model.initial();
        for (final int id : order)
        {
            final Operation operation = left.get(id);
            assertThat(left.values().stream().filter(Operation::isOk).anyMatch(other -> other.precedes(operation)))
                .as("%s", operations).isFalse();
            left.remove(id);
            state = model.step(state, operation);
            assertThat(state).as("%s", operations).isNotNull();
        }
        assertThat(left.values().stream().anyMatch(Operation::isOk)).as("%s", operations).isFalse();
    }

    private static <S> void checkFailure(
        final Model<S> model, final PartVerdict verdict, final List<Operation> operations)
    {
        final Failure failure = verdict.failure();
        final int position = failure.breaking().endPosition();
        checkOrder(model, verdict.linearization(), cut(operations, position));
        assertThat(BruteForce.isLinearizable(model, cut(operations, position + 1))).as("%s", operations).isFalse();

        final Set<Integer> core = new HashSet<>();
        failure.core().forEach(operation -> core.add(operation.id()));
        assertThat(failure.coreSuffices()).isTrue();
        assertThat(failure.coreIsMinimal()).isTrue();
        assertThat(BruteForce.isLinearizable(model, onlySeen(operations, core, position))).as("%s", operations)
            .isFalse();
        for (final int id : core)
        {
            final Set<Integer> fewer = new HashSet<>(core);
            fewer.remove(id);
            assertThat(id != failure.breaking().id() &&
                !BruteForce.isLinearizable(model, onlySeen(operations, fewer, position)))
                .as("core %s of %s", core, operations).isFalse();
        }
    }

    /** The history as it was just before a position. */
    private static List<Operation> cut(final List<Operation> operations, final int position)
    {
        final List<Operation> result = new ArrayList<>();
        for (final Operation operation : operations)
        {
            if (operation.callPosition() < position)
            {
                result.add(operation.endPosition() < position ? operation : unseen(operation));
            }
        }
        return result;
    }

    private static List<Operation> onlySeen(
        final List<Operation> operations, final Set<Integer> ids, final int position)
    {
        final List<Operation> result = new ArrayList<>();
        for (final Operation operation : cut(operations, position + 1))
        {
            result.add(ids.contains(operation.id()) ? operation : unseen(operation));
        }
        return result;
    }

    private static Operation unseen(final Operation o)
    {
        return new Operation(o.id(), o.process(), o.f(), o.key(), o.input(), EventType.INFO, null,
            o.callPosition(), Operation.NEVER, 0, 0, 0, 0);
    }

    private static List<Operation> history(final Alphabet alphabet, final int[] letters, final int[][] intervals)
    {
        final List<Operation> operations = new ArrayList<>();
        for (int i = 0; i < letters.length; i++)
        {
            operations.add(alphabet.operation(letters[i], i, intervals[i][0], intervals[i][1]));
        }
        return operations;
    }

    private static boolean next(final int[] digits, final int base)
    {
        for (int i = 0; i < digits.length; i++)
        {
            if (++digits[i] < base)
            {
                return true;
            }
            digits[i] = 0;
        }
        return false;
    }

    /** All ways in which so many operations can overlap, each as pairs of positions in the order of the calls. */
    private static List<int[][]> shapes(final int length)
    {
        final List<int[][]> shapes = new ArrayList<>();
        addShapes(new int[length][2], 0, new boolean[2 * length], shapes);
        return shapes;
    }

    private static void addShapes(
        final int[][] shape, final int operation, final boolean[] used, final List<int[][]> shapes)
    {
        if (operation == shape.length)
        {
            shapes.add(Stream.of(shape).map(int[]::clone).toArray(int[][]::new));
            return;
        }
        int call = 0;
        while (used[call])
        {
            call++;
        }
        used[call] = true;
        for (int end = call + 1; end < used.length; end++)
        {
            if (!used[end])
            {
                used[end] = true;
                shape[operation][0] = call;
                shape[operation][1] = end;
                addShapes(shape, operation + 1, used, shapes);
                used[end] = false;
            }
        }
        used[call] = false;
    }

    private static int[][] randomShape(final SplittableRandom random, final int length)
    {
        final int[][] shape = new int[length][2];
        final boolean[] used = new boolean[2 * length];
        for (int i = 0; i < length; i++)
        {
            int call = 0;
            while (used[call])
            {
                call++;
            }
            used[call] = true;
            int end = random.nextInt(call + 1, Math.min(2 * length, call + 6));
            while (end < 2 * length && used[end])
            {
                end++;
            }
            while (end >= 2 * length || used[end])
            {
                end--;
            }
            used[end] = true;
            shape[i][0] = call;
            shape[i][1] = end;
        }
        return shape;
    }
}
