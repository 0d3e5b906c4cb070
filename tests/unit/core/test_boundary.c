#include "core/boundary.h"
#include "test.h"
#include "walls.h"

#include <math.h>
#include <string.h>

enum { RADIUS = 3 };
static const double h = 0.25; /* m */
static const double k = 8.0;  /* W/(m K) */

/* Lowers a kind with value = 5, flux = 12, gradient = 7, h = 6, ambient = 4. If exactly one of
 * several keys must be given, `chosen` is. */
static struct hs_face lowered(const char *name, const char *chosen, double conductivity)
{
    static const struct {
        const char *key;
        double value;
    } values[] = {{"value", 5.0}, {"flux", 12.0}, {"gradient", 7.0}, {"h", 6.0}, {"ambient", 4.0}};
    const struct hs_boundary_kind *kind = hs_boundary_find(name);
    assert_non_null(kind);
    struct hs_boundary_spec spec = {.conductivity = conductivity, .spacing = h, .radius = RADIUS};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        const int n = hs_boundary_key_find(kind, values[i].key);
        if (n < 0 || (kind->key[n].one_of && strcmp(values[i].key, chosen) != 0))
            continue;
        spec.given |= 1u << n;
        spec.value[n].constant = values[i].value;
    }
    char reason[200];
    assert_false(hs_boundary_lacks(kind, &spec, reason, sizeof reason));
    return hs_boundary_lower(kind, &spec);
}

/* The ghost of layer m for a field u(s), where s is the distance into the body. */
static double ghost(const struct hs_face *face, int m, double (*u)(double))
{
    return face->a[m - 1] * u(m * h) + face->b[m - 1] * u(0.0) +
           face->c[m - 1] * face->data.constant;
}

static double odd_about_5(double s)
{
    return 5.0 + 3.0 * s + 2.0 * s * s * s;
}

static double even(double s)
{
    return 2.0 + 3.0 * s * s;
}

/* u'(0) = -dT/dn, as s runs inwards */
static double slope_minus_7(double s)
{
    return 2.0 - 7.0 * s + 3.0 * s * s;
}

static double slope_of_flux(double s)
{
    return 2.0 + 12.0 / 8.0 * s + 3.0 * s * s;
}

/* k u'(0) = h (u(0) - ambient): 8 * 1.5 = 6 * (6 - 4) */
static double slope_of_convection(double s)
{
    return 6.0 + 1.5 * s + 3.0 * s * s;
}

/* A rule is right if it continues a field that meets the wall's condition through the wall. Each
 * field here has a form that the rule continues exactly. 1e-14: a few roundings of 10. */
static void assert_continues(const struct hs_face *face, double (*u)(double))
{
    for (int m = 1; m <= RADIUS; m++)
        assert_near(ghost(face, m, u), u(-m * h), 1e-14);
}

void test_boundary__dirichlet_continues_oddly_about_the_wall(void **state)
{
    const struct hs_face face = lowered("dirichlet", NULL, k);
    assert_continues(&face, odd_about_5);
    assert_int_equal(face.held, 1);
    assert_true(face.prescribed && face.data.constant == 5.0 && !face.wrap);
}

void test_boundary__reflective_continues_evenly(void **state)
{
    const struct hs_face face = lowered("reflective", NULL, NAN);
    assert_continues(&face, even);
    assert_true(face.held == 0 && !face.prescribed);
}

void test_boundary__neumann_has_the_gradient_along_the_outward_normal(void **state)
{
    const struct hs_face face = lowered("neumann", "gradient", NAN);
    assert_continues(&face, slope_minus_7);
}

/* Heat that leaves cools the wall: the temperature falls outwards, rises inwards. */
void test_boundary__neumann_flux_is_what_leaves(void **state)
{
    const struct hs_face face = lowered("neumann", "flux", k);
    assert_continues(&face, slope_of_flux);
}

void test_boundary__robin_balances_conduction_and_convection(void **state)
{
    const struct hs_face face = lowered("robin", NULL, k);
    assert_continues(&face, slope_of_convection);
}

void test_boundary__robin_tends_to_neumann(void **state)
{
    /* far above T, so that h*ambient = 7 flows in */
    const struct hs_value ambient = {.constant = 1e9};
    const struct hs_face face =
        make_wall("robin", ambient, 7e-9,
                  (struct hs_boundary_spec){.conductivity = 1.0, .spacing = h, .radius = 1});
    /* dT/dn = 7 to a billionth of 2, the edge's temperature, times h */
    assert_near(ghost(&face, 1, slope_minus_7), slope_minus_7(-h), 1e-7);
}

void test_boundary__clamp_constant_fixed_and_periodic(void **state)
{
    const struct hs_face clamp = lowered("clamp", NULL, NAN);
    const struct hs_face constant = lowered("constant", NULL, NAN);
    for (int m = 1; m <= RADIUS; m++) {
        assert_true(ghost(&clamp, m, slope_minus_7) == 2.0);
        assert_true(ghost(&constant, m, slope_minus_7) == 5.0);
    }
    const struct hs_face fixed = lowered("fixed", NULL, NAN);
    assert_true(fixed.held == RADIUS && !fixed.prescribed);
    assert_true(lowered("periodic", NULL, NAN).wrap);
}

void test_boundary__walls_through_the_node_leave_it_half_a_cell(void **state)
{
    assert_true(lowered("reflective", NULL, NAN).edge_weight == 0.5);
    assert_true(lowered("dirichlet", NULL, NAN).edge_weight == 0.5);
    assert_true(lowered("neumann", "gradient", NAN).edge_weight == 0.5);
    assert_true(lowered("robin", NULL, k).edge_weight == 0.5);
    assert_true(lowered("fixed", NULL, NAN).edge_weight == 0.5);
    assert_true(lowered("periodic", NULL, NAN).edge_weight == 1.0);
    assert_true(lowered("clamp", NULL, NAN).edge_weight == 1.0);
}

void test_boundary__heat_flows_need_a_conductivity(void **state)
{
    static const struct {
        const char *kind, *reason;
    } cases[] = {
        {"neumann", "a flux in W/m^2 needs material.conductivity; give that, or gradient in K/m"},
        {"robin", "convection needs material.conductivity"}};
    for (int n = 0; n < 2; n++) {
        struct hs_boundary_spec spec = {.given = 1u, .conductivity = NAN};
        const struct hs_boundary_kind *kind = hs_boundary_find(cases[n].kind);
        char reason[200] = "";
        assert_true(hs_boundary_lacks(kind, &spec, reason, sizeof reason));
        assert_string_equal(reason, cases[n].reason);
        spec.given = 1u << 1; /* a gradient needs none */
        assert_false(hs_boundary_lacks(kind, &spec, reason, sizeof reason));
        spec = (struct hs_boundary_spec){.given = 1u, .conductivity = 2.0};
        assert_false(hs_boundary_lacks(kind, &spec, reason, sizeof reason));
    }
}

void test_boundary__kinds_are_found_by_name(void **state)
{
    for (const struct hs_boundary_kind *kind = hs_boundary_kinds; kind->name; kind++)
        assert_ptr_equal(hs_boundary_find(kind->name), kind);
    assert_non_null(hs_boundary_find("robin"));
    assert_null(hs_boundary_find("dirichle"));
}

/* What every row of the table must satisfy, future ones included. */
void test_boundary__the_table_is_sound(void **state)
{
    for (const struct hs_boundary_kind *kind = hs_boundary_kinds; kind->name; kind++) {
        assert_true(kind->summary && kind->summary[0]);
        assert_true(kind->edge_weight == 0.5 || kind->edge_weight == 1.0);
        int required = 0, choices = 0;
        for (int n = 0; n < hs_boundary_key_count(kind); n++) {
            const struct hs_boundary_key *key = &kind->key[n];
            assert_true(key->unit && key->help && key->help[0]);
            assert_int_equal(hs_boundary_key_find(kind, key->name), n);
            required += !key->number && !key->one_of;
            choices += !key->number && key->one_of;
            for (const struct hs_boundary_kind *other = hs_boundary_kinds; other != kind; other++) {
                const int same = hs_boundary_key_find(other, key->name);
                if (same < 0)
                    continue;
                assert_string_equal(other->key[same].unit, key->unit);
                assert_string_equal(other->key[same].help, key->help);
                assert_int_equal(other->key[same].number, key->number);
            }
        }
        assert_true(required + (choices > 0) <= 1); /* a face has one value for its data */
        assert_true(choices != 1);
    }
}

void test_boundary__keys_are_listed(void **state)
{
    char list[80];
    hs_boundary_list_keys(hs_boundary_find("neumann"), true, list, sizeof list);
    assert_string_equal(list, "flux or gradient");
    hs_boundary_list_keys(hs_boundary_find("neumann"), false, list, sizeof list);
    assert_string_equal(list, "");
    hs_boundary_list_keys(hs_boundary_find("robin"), false, list, sizeof list);
    assert_string_equal(list, "h and ambient");
    hs_boundary_list_keys(hs_boundary_find("fixed"), false, list, sizeof list);
    assert_string_equal(list, "");
}

void test_boundary__other_names_lead_to_one_key(void **state)
{
    static const char *const names[][2] = {
        {"T_inf", "ambient"}, {"htc", "h"}, {"heat-transfer-coefficient", "h"}, {"Q", "flux"}};
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        assert_non_null(hs_boundary_key_meant(names[n][0]));
        assert_string_equal(hs_boundary_key_meant(names[n][0])->name, names[n][1]);
    }
    assert_null(hs_boundary_key_meant("h"));
    assert_null(hs_boundary_key_meant(""));
}

void test_boundary__other_names_lead_to_one_kind(void **state)
{
    static const char *const names[][2] = {
        {"convection", "robin"},     {"Convective", "robin"},       {"insulated", "reflective"},
        {"ADIABATIC", "reflective"}, {"heat-flux", "neumann"},      {"Heat flux", "neumann"},
        {"flux", "neumann"},         {"isothermal", "dirichlet"},   {"temperature", "dirichlet"},
        {"cyclic", "periodic"},      {"zeroGradient", "reflective"}};
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        assert_non_null(hs_boundary_meant(names[n][0]));
        assert_string_equal(hs_boundary_meant(names[n][0])->name, names[n][1]);
        assert_null(hs_boundary_find(names[n][0])); /* known, but not accepted */
    }
    assert_null(hs_boundary_meant(""));
    assert_null(hs_boundary_meant("conv"));
    assert_null(hs_boundary_meant("convections"));
}
