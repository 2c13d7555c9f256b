package io.verbena.client;

/**
 * How a table is made. It grows beyond that as it fills, unless its compute nodes do not let it; one that is
 * made large enough need not.
 *
 * @param expectedRecords records expected at once, 1 to {@link #MAX_EXPECTED_RECORDS}. Costs about 12 bytes of bucket
 *                        memory
 *                        each, besides the records; somewhat more records fit before {@link KvTableFullException}.
 */
public record TableOptions(long expectedRecords)
{
    /** Largest table of this version. */
    public static final long MAX_EXPECTED_RECORDS = 1L << 30;

    /** For 100,000 records. */
    public static final TableOptions DEFAULTS = new TableOptions(100_000);

    /** Checks its arguments. */
    public TableOptions
    {
        if (expectedRecords < 1 || expectedRecords > MAX_EXPECTED_RECORDS)
        {
            throw new KvInvalidRequestException(
                "expectedRecords=" + expectedRecords + " must be 1 to " + MAX_EXPECTED_RECORDS);
        }
    }
}
