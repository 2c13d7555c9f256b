package io.verbena.elle.txn;

import io.verbena.elle.history.History;
import io.verbena.elle.history.Operation;
import io.verbena.elle.txn.graph.IntList;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A history of transactions as flat arrays: keys are numbered, and so are versions (a key with a value). Filled by
 * {@link TransactionsReader}; after that the checks only note what reads saw.
 *
 * <p>The operations are numbered through all transactions; those of transaction t run from {@link #firstOp} of t to
 * that of t + 1.
 */
final class Transactions
{
    /** Instead of a version: the state of a key before the first write. */
    static final int INITIAL = -1;
    /** Instead of a writer: no transaction. */
    static final int NOBODY = -1;
    private static final int NO_OP = -1;

    private final History history;
    private final IntList firstOps = new IntList();
    private final BitSet writes = new BitSet();
    private final IntList opKeys = new IntList();
    private final IntList opVersions = new IntList();
    private final List<Object> opValues = new ArrayList<>();

    private final Map<Object, Integer> keyNumbers = new HashMap<>();
    private final List<Object> keyNames = new ArrayList<>();
    private final IntList lastWriteOps = new IntList();

    private final VersionIndex versions = new VersionIndex();
    private final IntList writerOps = new IntList();
    private final IntList writers = new IntList();
    private final BitSet replaced = new BitSet();

    Transactions(final History history)
    {
        this.history = history;
        firstOps.add(0);
    }

    /** Ends the transaction whose operations were just added; the next ones are those of the next. */
    void endTransaction()
    {
        firstOps.add(opKeys.count());
    }

    void addRead(final int key, final Object value)
    {
        addOp(key, INITIAL, value);
    }

    /** Adds a write of a version that nobody wrote before. */
    void addWrite(final int key, final Object value)
    {
        final int op = opKeys.count();
        final int version = versions.add(key, value);
        writerOps.add(op);
        writers.add(firstOps.count() - 1);
        final int lastOp = lastWriteOps.get(key);
        if (lastOp >= firstOps.last())
        {
            replaced.set(version(lastOp));
        }
        lastWriteOps.set(key, op);
        writes.set(op);
        addOp(key, version, value);
    }

    int numberOfKey(final Object name)
    {
        final Integer known = keyNumbers.get(name);
        if (known != null)
        {
            return known;
        }
        final Integer number = keyNames.size();
        keyNumbers.put(name, number);
        keyNames.add(name);
        lastWriteOps.add(NO_OP);
        return number;
    }

    History history()
    {
        return history;
    }

    int count()
    {
        return firstOps.count() - 1;
    }

    int keyCount()
    {
        return keyNames.size();
    }

    /** Number of versions, also of those nobody wrote. */
    int versionCount()
    {
        return versions.count();
    }

    Operation operation(final int txn)
    {
        return history.operations().get(txn);
    }

    boolean isOk(final int txn)
    {
        return operation(txn).isOk();
    }

    boolean isFail(final int txn)
    {
        return operation(txn).isFail();
    }

    int firstOp(final int txn)
    {
        return firstOps.get(txn);
    }

    boolean isWrite(final int op)
    {
        return writes.get(op);
    }

    int key(final int op)
    {
        return opKeys.get(op);
    }

    /** The version that was written, or that {@link #noteRead} said was read. */
    int version(final int op)
    {
        return opVersions.get(op);
    }

    void noteRead(final int op, final int version)
    {
        opVersions.set(op, version);
    }

    /** What was written or read, as the history has it. */
    Object value(final int op)
    {
        return opValues.get(op);
    }

    /** The list that was read; nil is the empty list. */
    List<?> list(final int op)
    {
        return value(op) == null ? List.of() : (List<?>)value(op);
    }

    Object keyName(final int key)
    {
        return keyNames.get(key);
    }

    int keyOfVersion(final int version)
    {
        return versions.keyOf(version);
    }

    Object valueOfVersion(final int version)
    {
        return versions.valueOf(version);
    }

    /** The number of a version, or {@link VersionIndex#ABSENT}. */
    int findVersion(final int key, final Object value)
    {
        return versions.find(key, value);
    }

    /** The number of a version; one that nobody wrote is given one. */
    int versionRead(final int key, final Object value)
    {
        final int found = versions.find(key, value);
        if (found != VersionIndex.ABSENT)
        {
            return found;
        }
        writerOps.add(NO_OP);
        writers.add(NOBODY);
        return versions.add(key, value);
    }

    /** The transaction that wrote the version, or {@link #NOBODY}. */
    int writer(final int version)
    {
        return writers.get(version);
    }

    int writerOp(final int version)
    {
        return writerOps.get(version);
    }

    /** Whether the transaction that wrote the version certainly failed. */
    boolean isAborted(final int version)
    {
        return writer(version) != NOBODY && isFail(writer(version));
    }

    /** Whether somebody wrote the version and has, or may have, committed it. */
    boolean mayExist(final int version)
    {
        return writer(version) != NOBODY && !isFail(writer(version));
    }

    /** Whether the transaction that wrote the version wrote the key again. */
    boolean isReplaced(final int version)
    {
        return replaced.get(version);
    }

    private void addOp(final int key, final int version, final Object value)
    {
        opKeys.add(key);
        opVersions.add(version);
        opValues.add(value);
    }
}
