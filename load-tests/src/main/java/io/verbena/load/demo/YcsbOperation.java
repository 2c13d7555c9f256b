package io.verbena.load.demo;

/**
 * What latencies are reported for.
 */
enum YcsbOperation
{
    /** YCSB's read: one get. */
    READ("get"),
    /** YCSB's update: get and conditional replace. */
    UPDATE("update"),
    /** YCSB's insert: one put. */
    INSERT("insert"),
    /** YCSB's read, then update, of one record: both together. */
    READ_MODIFY_WRITE("read_modify_write");

    private final String figureName;

    YcsbOperation(final String figureName)
    {
        this.figureName = figureName;
    }

    /**
     * Its name in figures.
     */
    String figureName()
    {
        return figureName;
    }
}
