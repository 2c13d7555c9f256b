package io.verbena.elle.txn;

import io.verbena.elle.txn.isolation.AnomalyType;

import java.util.List;

/**
 * Goes through the reads of registers: notes which version each saw, and finds what a single read gives away.
 */
final class RegisterReads
{
    private final Transactions transactions;
    private final Findings findings;

    RegisterReads(final Transactions transactions, final Findings findings)
    {
        this.transactions = transactions;
        this.findings = findings;
    }

    void run()
    {
        for (int txn = 0; txn < transactions.count(); txn++)
        {
            for (int op = transactions.firstOp(txn);
                op < transactions.firstOp(txn + 1) && transactions.isOk(txn); op++)
            {
                if (!transactions.isWrite(op))
                {
                    if (transactions.value(op) != null)
                    {
                        transactions.noteRead(op,
                            transactions.versionRead(transactions.key(op), transactions.value(op)));
                        checkWriter(txn, op);
                    }
                    checkOwnPast(txn, op);
                }
            }
        }
    }

    private void checkWriter(final int txn, final int op)
    {
        final int version = transactions.version(op);
        final int writer = transactions.writer(version);
        if (writer == Transactions.NOBODY)
        {
            add(AnomalyType.GARBAGE_READ, List.of(txn), txn, op, "which no transaction wrote");
        }
        else if (writer == txn && transactions.writerOp(version) > op)
        {
            add(AnomalyType.FUTURE_READ, List.of(txn), txn, op, "which it wrote only afterwards");
        }
        else if (writer != txn && transactions.isFail(writer))
        {
            add(AnomalyType.G1A, List.of(writer, txn), txn, op, "written by " + Words.txn(writer) +
                ", which failed");
        }
        if (writer != Transactions.NOBODY && writer != txn && transactions.isReplaced(version))
        {
            add(AnomalyType.G1B, List.of(writer, txn), txn, op, "which " + Words.txn(writer) +
                " overwrote before its end");
        }
    }

    /** Compares with the last operation of the transaction on the key (Cerone's axiom INT). */
    private void checkOwnPast(final int txn, final int readOp)
    {
        int op = readOp - 1;
        while (op >= transactions.firstOp(txn) && transactions.key(op) != transactions.key(readOp))
        {
            op--;
        }
        if (op >= transactions.firstOp(txn) && transactions.version(op) != transactions.version(readOp))
        {
            add(AnomalyType.INTERNAL, List.of(txn), txn, readOp, "after it had itself " +
                (transactions.isWrite(op) ? "written " : "read ") + Words.value(transactions.value(op)));
        }
    }

    private void add(
        final AnomalyType type, final List<Integer> involved, final int txn, final int op, final String what)
    {
        findings.add(type, () -> Anomaly.of(type, involved, Words.txn(txn) + " read key " +
            Words.value(transactions.keyName(transactions.key(op))) + " as " + Words.value(transactions.value(op)) +
            (type == AnomalyType.INTERNAL ? " " : ", ") + what));
    }
}
