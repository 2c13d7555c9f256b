package io.verbena.raas.limit;

/**
 * How much of a limit is used.
 *
 * @param name   what is limited, in the plural.
 * @param used   now.
 * @param most   the limit.
 * @param option what raises it.
 */
public record RaasLimit(String name, long used, long most, String option)
{
    /** @return what is to be said when it is reached: names limit, value and option. */
    public String reached()
    {
        return "no room for more " + name + ": " + used + " of at most " + most + " are in use; close some, or raise " +
            option;
    }
}
