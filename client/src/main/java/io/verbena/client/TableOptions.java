package io.verbena.client;

import io.verbena.protocol.request.RequestLimits;

/**
 * How a table is made. It grows beyond that as it fills, unless its compute nodes do not let it; one that is
 * made large enough need not.
 *
 * @param expectedRecords records expected at once, 1 to {@link #MAX_EXPECTED_RECORDS}. Costs about 12 bytes of bucket
 *                        memory
 *                        each, besides the records; somewhat more records fit before {@link KvTableFullException}.
 * @param copies          how often each record is kept, each time on another memory node; 1 to {@link #MAX_COPIES}. All
 *                        memory nodes with copies but one may be lost without loss of a record. A member that is lost
 *                        is not replaced, and a table with more than one copy does not grow, in this version.
 */
public record TableOptions(long expectedRecords, int copies)
{
    /** Largest table of this version. */
    public static final long MAX_EXPECTED_RECORDS = 1L << 30;

    /** Most copies of this version. */
    public static final int MAX_COPIES = RequestLimits.MAX_COPIES;

    /** For 100,000 records, in one copy. */
    public static final TableOptions DEFAULTS = new TableOptions(100_000);

    /** Checks its arguments. */
    public TableOptions
    {
        if (expectedRecords < 1 || expectedRecords > MAX_EXPECTED_RECORDS)
        {
            throw new KvInvalidRequestException(
                "expectedRecords=" + expectedRecords + " must be 1 to " + MAX_EXPECTED_RECORDS);
        }
        if (copies < 1 || copies > MAX_COPIES)
        {
            throw new KvInvalidRequestException("copies=" + copies + " must be 1 to " + MAX_COPIES +
                ", each on another memory node");
        }
    }

    /**
     * Of a table with one copy.
     *
     * @param expectedRecords as above.
     */
    public TableOptions(final long expectedRecords)
    {
        this(expectedRecords, 1);
    }
}
