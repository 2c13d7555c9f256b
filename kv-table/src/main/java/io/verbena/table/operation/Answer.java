package io.verbena.table.operation;

/** What an operation returns. */
final class Answer
{
    /** One of {@link OperationResult}. */
    int result;
    long version;
    /** INCREMENT: the new value. */
    long counter;
    /** Of the value found, in the scratch memory. */
    int valueOffset;
    int valueLength;

    void reset()
    {
        version = 0;
        counter = 0;
        valueLength = 0;
    }
}
