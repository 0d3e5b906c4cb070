#include "core/boundary.h"
#include "test.h"

#include <math.h>
#include <string.h>

enum { RADIUS = 3 };
static const double h = 0.25; /* m */
static const double k = 8.0;  /* W/(m K) */

/* Lowers a kind with value = 5, flux = 12, gradient = 7, h = 6, ambient = 4, of which `given`. */
static struct hs_face lowered(const char *name, unsigned given, double conductivity)
{
    const struct hs_boundary_kind *kind = hs_boundary_find(name);
    assert_non_null(kind);
    static const double values[HS_BOUNDARY_KEYS] = {5.0, 12.0, 7.0, 6.0, 4.0};
    struct hs_boundary_spec spec = {.given = given};
    for (int key = 0; key < HS_BOUNDARY_KEYS; key++)
        spec.value[key].constant = values[key];
    struct hs_face face = {.type = name};
    const char *reason = NULL;
    assert_int_equal(kind->lower(&spec, conductivity, h, RADIUS, &face, &reason), HS_OK);
    return face;
}

/* The ghost of layer m, where the field outside the wall is u(s), s the distance into the body. */
static double ghost(const struct hs_face *face, int m, double (*u)(double))
{
    return face->a[m - 1] * u(m * h) + face->b[m - 1] * u(0.0) +
           face->c[m - 1] * face->drive.constant;
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

/* A rule is right if it continues, through the wall, a field that meets the condition there. Each
 * such field is of a form that the rule continues without error. 1e-14: a few roundings of 10. */
static void assert_continues(const struct hs_face *face, double (*u)(double))
{
    for (int m = 1; m <= RADIUS; m++)
        assert_near(ghost(face, m, u), u(-m * h), 1e-14);
}

void test_boundary__dirichlet_continues_oddly_about_the_wall(void **state)
{
    (void)state;
    const struct hs_face face = lowered("dirichlet", 1u << HS_BOUNDARY_VALUE, k);
    assert_continues(&face, odd_about_5);
    assert_int_equal(face.held, 1);
    assert_true(face.prescribed && face.drive.constant == 5.0 && !face.wrap);
}

void test_boundary__reflective_continues_evenly(void **state)
{
    (void)state;
    const struct hs_face face = lowered("reflective", 0, NAN);
    assert_continues(&face, even);
    assert_true(face.held == 0 && !face.prescribed);
}

void test_boundary__neumann_has_the_gradient_along_the_outward_normal(void **state)
{
    (void)state;
    const struct hs_face face = lowered("neumann", 1u << HS_BOUNDARY_GRADIENT, NAN);
    assert_continues(&face, slope_minus_7);
}

/* Heat that leaves cools the wall: the temperature falls outwards, rises inwards. */
void test_boundary__neumann_flux_is_what_leaves(void **state)
{
    (void)state;
    const struct hs_face face = lowered("neumann", 1u << HS_BOUNDARY_FLUX, k);
    assert_continues(&face, slope_of_flux);
}

void test_boundary__robin_balances_conduction_and_convection(void **state)
{
    (void)state;
    const struct hs_face face =
        lowered("robin", 1u << HS_BOUNDARY_H | 1u << HS_BOUNDARY_AMBIENT, k);
    assert_continues(&face, slope_of_convection);
}

void test_boundary__robin_tends_to_neumann(void **state)
{
    (void)state;
    const struct hs_boundary_kind *robin = hs_boundary_find("robin");
    struct hs_boundary_spec spec = {.given = 1u << HS_BOUNDARY_H | 1u << HS_BOUNDARY_AMBIENT};
    spec.value[HS_BOUNDARY_AMBIENT].constant =
        1e9; /* far above T, so that h*ambient = 7 flows in */
    spec.value[HS_BOUNDARY_H].constant = 7e-9;
    struct hs_face face = {.type = "robin"};
    const char *reason = NULL;
    assert_int_equal(robin->lower(&spec, 1.0, h, 1, &face, &reason), HS_OK);
    /* dT/dn = 7 to a billionth of 2, the edge's temperature, times h */
    assert_near(ghost(&face, 1, slope_minus_7), slope_minus_7(-h), 1e-7);
}

void test_boundary__clamp_constant_fixed_and_periodic(void **state)
{
    (void)state;
    const struct hs_face clamp = lowered("clamp", 0, NAN);
    const struct hs_face constant = lowered("constant", 1u << HS_BOUNDARY_VALUE, NAN);
    for (int m = 1; m <= RADIUS; m++) {
        assert_true(ghost(&clamp, m, slope_minus_7) == 2.0);
        assert_true(ghost(&constant, m, slope_minus_7) == 5.0);
    }
    const struct hs_face fixed = lowered("fixed", 0, NAN);
    assert_true(fixed.held == RADIUS && !fixed.prescribed);
    assert_true(lowered("periodic", 0, NAN).wrap);
}

void test_boundary__walls_through_the_node_leave_it_half_a_cell(void **state)
{
    (void)state;
    assert_true(lowered("reflective", 0, NAN).edge_weight == 0.5);
    assert_true(lowered("dirichlet", 1, NAN).edge_weight == 0.5);
    assert_true(lowered("neumann", 1u << HS_BOUNDARY_GRADIENT, NAN).edge_weight == 0.5);
    assert_true(lowered("robin", 0x18, k).edge_weight == 0.5);
    assert_true(lowered("fixed", 0, NAN).edge_weight == 0.5);
    assert_true(lowered("periodic", 0, NAN).edge_weight == 1.0);
    assert_true(lowered("clamp", 0, NAN).edge_weight == 1.0);
}

void test_boundary__heat_flows_need_a_conductivity(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        unsigned given;
    } cases[] = {{"neumann", 1u << HS_BOUNDARY_FLUX}, {"robin", 0x18}};
    for (int n = 0; n < 2; n++) {
        struct hs_boundary_spec spec = {.given = cases[n].given};
        struct hs_face face = {.type = "x"};
        const char *reason = NULL;
        assert_int_equal(hs_boundary_find(cases[n].kind)->lower(&spec, NAN, h, 1, &face, &reason),
                         HS_BAD_INPUT);
        assert_non_null(strstr(reason, "material.conductivity"));
    }
}

void test_boundary__kinds_are_found_by_name(void **state)
{
    (void)state;
    int kinds = 0;
    for (const struct hs_boundary_kind *kind = hs_boundary_kinds; kind->name; kind++, kinds++)
        assert_ptr_equal(hs_boundary_find(kind->name), kind);
    assert_int_equal(kinds, 8);
    assert_null(hs_boundary_find("dirichle"));
    assert_string_equal(hs_boundary_key_name(HS_BOUNDARY_AMBIENT), "ambient");
}

void test_boundary__other_names_lead_to_one_kind(void **state)
{
    (void)state;
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
