package io.verbena.table;

import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * What is wrong with the answers to a few operations, by rules of which each is a proof of its own: values and versions
 * are given once, and an operation that ended before another one began stands before it. They find less than the
 * checker of linearizability does, but name it, and need no search.
 */
final class Symptoms
{
    static final String STALE = "stale answer";
    static final String OTHER_KEY = "answer of another key";
    static final String MISSED = "a record is missed";
    static final String REPLACED_TWICE = "lost update: two replaced the same version";
    static final String DELETED_TWICE = "one record deleted twice";
    static final String INSERTED_TWICE = "one key inserted twice";
    static final String APPENDED_TWICE = "appended twice";
    static final String LOST_APPEND = "lost update: an append";
    static final String COUNTED_TWICE = "lost update: two counted on from the same value";

    static final String VERSION_BACK = "a version goes back";

    private final List<Answer> answers = new ArrayList<>();
    private final List<String> found = new ArrayList<>();

    /**
     * An operation that has ended.
     *
     * @param kind     as in {@link OperationKind}.
     * @param key      number of it.
     * @param value    that it writes.
     * @param expected version.
     * @param began    time, of a clock that goes on with each beginning and end.
     * @param ended    {@link Long#MAX_VALUE} if its outcome is unknown.
     * @param result   as in {@link OperationResult}.
     * @param version  that it has made or met; 0: none.
     * @param numbers  of the value that it has read, or the counter that it has made.
     */
    record Answer(
        int kind, int key, long value, long expected, long began, long ended, int result, long version,
        List<?> numbers)
    {
        private boolean isBefore(final Answer other)
        {
            return ended < other.began;
        }

        private boolean isStored()
        {
            return result == OperationResult.STORED;
        }

        private boolean isKnown()
        {
            return result != OperationResult.OUTCOME_UNKNOWN;
        }

        private boolean deletes()
        {
            return kind == OperationKind.DELETE || kind == OperationKind.DELETE_VERSION;
        }

        private boolean mayDelete()
        {
            return deletes() && (!isKnown() || result == OperationResult.DELETED);
        }

        private boolean mayWrite()
        {
            return !deletes() && !OperationKind.isRead(kind) && (!isKnown() || isStored());
        }

        /** Whether it found a record that others had written. */
        private boolean meets()
        {
            return version != 0 && (result == OperationResult.FOUND || result == OperationResult.EXISTS ||
                result == OperationResult.VERSION_MISMATCH);
        }

        @Override
        public String toString()
        {
            return OperationKind.name(kind) + " of key " + key + " at " + began + " to " + ended + ": " +
                OperationResult.name(result) + ' ' + numbers + " version " + version;
        }
    }

    void add(final Answer answer)
    {
        answers.add(answer);
    }

    /** @return the first symptoms, a line each; empty when there is none. */
    List<String> find()
    {
        found.clear();
        for (final Answer one : answers)
        {
            findIn(one);
            for (final Answer other : answers)
            {
                if (one != other && one.key == other.key)
                {
                    findIn(one, other);
                }
            }
        }
        return found.stream().limit(4).toList();
    }

    private void findIn(final Answer one)
    {
        note(one.numbers.stream().distinct().count() < one.numbers.size(), APPENDED_TWICE, one);
        if (one.meets())
        {
            note(answers.stream().anyMatch(
                other -> other.isStored() && other.version == one.version && other.key != one.key), OTHER_KEY, one);
        }
        if (one.result == OperationResult.NOT_FOUND)
        {
            // Written before, and all that might have deleted it was over by then.
            answers.stream().filter(write -> write.key == one.key && write.isStored() && write.isBefore(one))
                .filter(write -> of(one.key).noneMatch(other -> other.mayDelete() && !other.isBefore(write) &&
                    other.began < one.ended))
                .forEach(write -> note(true, MISSED, write, one));
        }
    }

    private void findIn(final Answer one, final Answer other)
    {
        if (one.isStored() && other.isStored())
        {
            note(one.kind == OperationKind.REPLACE && other.kind == OperationKind.REPLACE &&
                one.expected == other.expected, REPLACED_TWICE, one, other);
            note(one.kind == OperationKind.PUT_IF_ABSENT && other.kind == OperationKind.PUT_IF_ABSENT &&
                nothingBetween(one, other, Answer::mayDelete), INSERTED_TWICE, one, other);
            note(one.isBefore(other) && one.version >= other.version &&
                nothingBetween(one, other, Answer::mayDelete), VERSION_BACK, one, other);
        }
        note(one.deletes() && other.deletes() && one.result == OperationResult.DELETED &&
            other.result == OperationResult.DELETED && nothingBetween(one, other, Answer::mayWrite),
            DELETED_TWICE, one, other);
        if (one.isStored() && other.meets())
        {
            findStale(one, other);
        }
    }

    /** A later write, or a delete, was acknowledged or seen before it began. */
    private void findStale(final Answer write, final Answer read)
    {
        if (write.version == read.version)
        {
            of(read.key).filter(between -> write.isBefore(between) && between.isBefore(read) &&
                (between.isStored() || between.result == OperationResult.DELETED))
                .forEach(between -> note(true, STALE, write, between, read));
            of(read.key).filter(later -> later.isStored() && write.isBefore(later)).forEach(later ->
                of(read.key).filter(seen -> seen.meets() && seen.version == later.version && seen.isBefore(read))
                    .forEach(seen -> note(true, STALE, later, seen, read)));
        }
        else if (write.kind == OperationKind.APPEND && read.result == OperationResult.FOUND && write.isBefore(read) &&
            !read.numbers.contains(write.value))
        {
            // Everything that stands in the value was written before, and nothing began it anew.
            note(read.numbers.stream().anyMatch(number -> of(read.key).anyMatch(first ->
                first.isStored() && number.equals(first.value) && first.isBefore(write) &&
                first.kind != OperationKind.APPEND && of(read.key).noneMatch(renewing ->
                renewing != first && renewing.kind != OperationKind.APPEND && !renewing.isBefore(first) &&
                (renewing.mayWrite() || renewing.mayDelete()) && renewing.began < write.ended))),
                LOST_APPEND, write, read);
        }
    }

    private Stream<Answer> of(final int key)
    {
        return answers.stream().filter(answer -> answer.key == key);
    }

    /** Of others of the key, none that matters overlaps the time from the beginning of the first to the last end. */
    private boolean nothingBetween(final Answer one, final Answer other, final Predicate<Answer> which)
    {
        final long from = Math.min(one.began, other.began);
        final long to = Math.max(one.ended, other.ended);
        return of(one.key).noneMatch(
            answer -> answer != one && answer != other && which.test(answer) && answer.ended > from &&
                answer.began < to);
    }

    /** @return increments of the same value, which is wrong if the history is; a key that is absent counts from 0. */
    List<String> findCountedTwice()
    {
        found.clear();
        for (final Answer one : answers)
        {
            of(one.key).filter(other ->
                one.began < other.began && counts(one) && counts(other) && base(one) != 0 && base(one) == base(other))
                .forEach(other -> note(true, COUNTED_TWICE, one, other));
        }
        return found.stream().limit(4).toList();
    }

    private static boolean counts(final Answer answer)
    {
        return answer.kind == OperationKind.INCREMENT && answer.isStored();
    }

    private static long base(final Answer answer)
    {
        return (Long)answer.numbers.getFirst() - answer.value;
    }

    private void note(final boolean is, final String what, final Answer... evidence)
    {
        if (is)
        {
            found.add(what + ": " + Arrays.toString(evidence));
        }
    }
}
